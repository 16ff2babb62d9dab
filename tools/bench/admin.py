"""Measures the admin's response times for a large installation: `make bench-admin`.

A real ZooKeeper and a real admin process; relays, statuses and tables are written as relays write
them. No relay runs, and no row moves.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, time
from typing import Final

import httpx
import psutil
from rich.console import Console
from rich.table import Table

from deploy.embedded import ZooKeeper
from deploy.embedded.fetching.progress import say
from relay.deadline import Deadline
from relay.model.failover import ServerRole
from relay.route import DBS, TAGS, TBS, TOPICS
from relay.state import (
    DroppedName,
    FailoverView,
    InstanceStatus,
    InstanceStore,
    MappingStore,
    Membership,
    Note,
    Paths,
    RelayMember,
    RunnableInstance,
    ServerView,
)
from relay.zk import Session
from tests.support.relays.zookeeper_sessions import session_with

_INSTALLATION: Final = "scale"
_TOKEN: Final = "scale-token"
_PAGES: Final = (
    "/",
    "/?filter=shop_04",
    "/instances/shop_007",
    "/mappings",
    "/mappings?by=topic",
    "/mappings?by=instance",
    "/mappings/unmapped",
    "/routes",
    "/routes?table=shop_007.orders_3",
    "/failover",
    "/failover?instance=shop_007",
    "/servers",
    "/users",
)
_LISTS: Final = (
    "/api/v1/instances",
    "/api/v1/instances?limit=50",
    "/api/v1/instances?filter=shop_04&limit=50",
    "/api/v1/relays",
    "/api/v1/needs-you",
    "/api/v1/failover",
    "/api/v1/unmapped",
    "/api/v1/mappings/logical?limit=50",
    "/api/v1/mappings/logical?by=instance&filter=shop_007&limit=50",
    "/api/v1/mappings/logical",
)
_HEADERS: Final = {"Authorization": f"Bearer {_TOKEN}"}


def main() -> int:
    """Measure, and print one line for each endpoint; return the exit code."""
    arguments = _parser().parse_args()
    with ZooKeeper(heap="512m") as zookeeper, session_with(zookeeper.hosts) as session:
        _fill(session, arguments.instances, arguments.tables, arguments.relays)
        _save_mapping(session, arguments.tables)
        with _admin(zookeeper.hosts, arguments.instances) as (client, process):
            table = Table("address", "bytes", "p50 ms", "p95 ms", "MB")
            for address in (*_LISTS, *_PAGES):
                table.add_row(address, *_measured(client, address, arguments.requests, process))
    Console(width=120).print(table)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools.bench.admin", description=__doc__)
    parser.add_argument("--instances", type=int, default=500)
    parser.add_argument("--tables", type=int, default=500, help="that each instance has met")
    parser.add_argument("--relays", type=int, default=50)
    parser.add_argument("--requests", type=int, default=20, help="for each address")
    return parser


def _fill(session: Session, instances: int, tables: int, relays: int) -> None:
    """Write the documents of relays: statuses, tables that were read, servers of each source, and
    the relays themselves.
    """
    say(f"writing {instances} instances of {tables} tables, and {relays} relays")
    paths = Paths(f"/roma/{_INSTALLATION}")
    store, members = InstanceStore(session, paths), Membership(session, paths)
    names = [f"shop_{number:03}" for number in range(instances)]
    for number, name in enumerate(names):
        store.put_status(_status(name, f"relay-{number % relays}"))
        store.put_tables(name, [f"{name}.orders_{each}" for each in range(tables)])
        store.put_dropped(name, [DroppedName("metrics.sample", "no database", number)])
        store.failover.put_view(name, _view())
    for number in range(relays):
        own = tuple(names[number::relays])
        candidacies = tuple(RunnableInstance(each) for each in own)
        server = f"server-{number}"
        members.announce(
            RelayMember(f"relay-{number}", server, 1, "", own, 1, server, 20_000, candidacies)
        )


def _status(name: str, relay: str) -> InstanceStatus:
    return InstanceStatus(
        name,
        "RUNNING",
        relay=relay,
        mapping_set=1,
        position_file="mysql-bin.000042",
        position_offset=4_711,
        gtid_set="3e11fa47-71ca-11e1-9e33-c80aa9429562:1-4711000",
        published_rows=1_000_000,
        lag_seconds=0.2,
        updated_ms=int(time() * 1000),
    )


def _view() -> FailoverView:
    gtids = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-4711000"
    servers = tuple(
        ServerView(role.value, f"{role.value}:3306", answers=True, executed=gtids, behind=0)
        for role in (ServerRole.MASTER, ServerRole.STANDBY)
    )
    return FailoverView(ServerRole.MASTER.value, "stay", servers=servers, updated_ms=1)


@contextmanager
def _admin(hosts: str, instances: int) -> Iterator[tuple[httpx.Client, psutil.Process]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "relay.toml"
        file.write_text(_configuration(hosts, instances), encoding="utf-8")
        command = [sys.executable, "-m", "api", "--config", str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            try:
                assert child.stdout is not None
                url = child.stdout.readline().partition(": ")[2].strip()
                with httpx.Client(
                    base_url=url, headers=_HEADERS, trust_env=False, timeout=120
                ) as client:
                    _await_ready(client)
                    yield client, psutil.Process(child.pid)
            finally:
                child.terminate()


def _configuration(hosts: str, instances: int) -> str:
    head = (
        f'installation = "{_INSTALLATION}"\n[kafka]\nbootstrap_servers = "127.0.0.1:1"\n'
        f'[zookeeper]\nhosts = "{hosts}"\n[api]\nport = 0\ntoken = "{_TOKEN}"\n'
        '[log]\nlevel = "ERROR"\n'
    )
    return head + "".join(
        f'[[instances]]\nname = "shop_{number:03}"\n[instances.source]\nhost = "h"\nuser = "u"\n'
        for number in range(instances)
    )


def _await_ready(client: httpx.Client) -> None:
    deadline = Deadline.after(60)
    while client.get("/readyz").status_code != httpx.codes.OK:
        if deadline.passed:
            raise SystemExit("the admin does not reach ZooKeeper")


def _save_mapping(session: Session, tables: int) -> None:
    documents: Mapping[str, object] = {
        DBS: [{"logicDb": "shop", "realDbs": "/shop_\\d+/"}],
        TBS: [{"logicTb": f"orders_{each}", "realTbs": f"orders_{each}"} for each in range(tables)],
        TOPICS: [{"logicDb": "shop", "topic": "shop"}],
        TAGS: [],
    }
    store = MappingStore(session, Paths(f"/roma/{_INSTALLATION}"))
    bodies = {name: json.dumps(document) for name, document in documents.items()}
    store.save(store.current(), bodies, Note("bench", "", int(time() * 1000)))


def _measured(
    client: httpx.Client, address: str, requests: int, process: psutil.Process
) -> list[str]:
    took, size = [], 0
    headers = {} if address.startswith("/api/") else {"Accept": "text/html"}
    for _ in range(requests):
        began = perf_counter()
        answer = client.get(address, headers=headers)
        took.append((perf_counter() - began) * 1000)
        if answer.status_code != httpx.codes.OK:
            return [f"{answer.status_code} {answer.text[:60]}", "", "", ""]
        size = len(answer.content)
    p95 = statistics.quantiles(took, n=20)[-1]
    memory = process.memory_info().rss / 1e6
    return [f"{size:,}", f"{statistics.median(took):,.0f}", f"{p95:,.0f}", f"{memory:,.0f}"]


if __name__ == "__main__":
    sys.exit(main())

"""Measures the admin's response times for a large installation: `make bench-admin`.

ZooKeeper and the admin process are real. The tool writes the entries of relays, statuses and tables
in ZooKeeper as relays do. No relay runs, and no row is published.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from time import time
from typing import Final

from rich.console import Console
from rich.table import Table

from deploy.embedded import ZooKeeper
from deploy.embedded.fetching.progress import say
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
from tools.bench.measuring.admin_process import HEADINGS, measured, served_admin

_INSTALLATION: Final = "scale"
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


def main() -> int:
    """Measure, and print one line for each endpoint; return the exit code."""
    arguments = _parser().parse_args()
    with ZooKeeper(heap="512m") as zookeeper, session_with(zookeeper.hosts) as session:
        _fill(session, arguments.instances, arguments.tables, arguments.relays)
        _save_mapping(session, arguments.tables)
        names = _names(arguments.instances)
        with served_admin(zookeeper.hosts, _INSTALLATION, names) as (client, process):
            table = Table(*HEADINGS)
            for address in (*_LISTS, *_PAGES):
                table.add_row(address, *measured(client, address, arguments.requests, process))
    Console(width=120).print(table)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools.bench.admin", description=__doc__)
    parser.add_argument("--instances", type=int, default=500)
    parser.add_argument(
        "--tables", type=int, default=500, help="tables that each instance has read"
    )
    parser.add_argument("--relays", type=int, default=50)
    parser.add_argument("--requests", type=int, default=20, help="requests to each endpoint")
    return parser


def _fill(session: Session, instances: int, tables: int, relays: int) -> None:
    """Write the documents of relays: statuses, tables that were read, servers of each source, and
    the relays themselves.
    """
    say(f"writing {instances} instances of {tables} tables, and {relays} relays")
    paths = Paths(f"/roma/{_INSTALLATION}")
    store, members = InstanceStore(session, paths), Membership(session, paths)
    names = _names(instances)
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


def _names(instances: int) -> list[str]:
    return [f"shop_{number:03}" for number in range(instances)]


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


if __name__ == "__main__":
    sys.exit(main())

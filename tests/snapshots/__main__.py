"""`python -m tests.snapshots --times 200 --seed 1`: copies of tables under load, with faults.

Each round has a seed of its own, which is printed with what it met. To continue a run that ended
early, begin with the seed after the last one that it printed.
"""

import argparse
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import pymysql
from confluent_kafka import KafkaException

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from deploy.embedded.processes.jvm import QUICK_START
from relay.errors import RelayError
from tests.servers.fixtures import SHORTEST_SESSION_MS
from tests.servers.running import running
from tests.snapshots.under_load import one_round
from tests.support.relays.relay_process import Installation
from tests.support.rows.held_commit import after_sync
from tests.support.sources.release_runs import KINDS

Source: TypeAlias = tuple[str, SqlServer, SqlServer | None]
_USUAL = ("mysql-9.7", "mariadb-11.4")


def main() -> int:
    """Run the rounds; 1 when the last message of a key was not the row."""
    parser = argparse.ArgumentParser(prog="tests.snapshots", description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="rounds on each server")
    parser.add_argument("--seed", type=int, default=1, help="that of the first round")
    parser.add_argument("--faults", type=int, default=6, help="faults of a round")
    parser.add_argument("--server", choices=KINDS, action="append")
    parser.add_argument("--act", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--alone", action="store_true", help="without a replica of the source")
    chosen = parser.parse_args()
    wrong: dict[str, list[int]] = {}
    limits = {"minSessionTimeout": SHORTEST_SESSION_MS, "maxSessionTimeout": 20_000}
    with (
        running(Kafka(jvm_options=QUICK_START)) as kafka,
        running(ZooKeeper(limits, tick_ms=100, jvm_options=QUICK_START)) as zookeeper,
    ):
        for name in chosen.server or _USUAL:
            with _source(name, alone=chosen.alone) as source:
                for seed in range(chosen.seed, chosen.seed + chosen.times):
                    if not _is_right(source, kafka, zookeeper, seed, chosen):
                        wrong.setdefault(name, []).append(seed)
    for name, seeds in wrong.items():
        print(f"{name}: wrong or failed with seeds {seeds}; each repeats with TIMES=1 SEED=…")
    return 1 if wrong else 0


def _is_right(
    source: Source, kafka: Kafka, zookeeper: ZooKeeper, seed: int, chosen: argparse.Namespace
) -> bool:
    """Run one round; one that fails is printed, and the next ones follow."""
    try:
        return _round(source, kafka, zookeeper, seed, chosen) == 0
    except (AssertionError, RelayError, pymysql.Error, KafkaException):
        print(f"{source[0]} seed {seed}: FAILED\n{traceback.format_exc()}", flush=True)
        return False


@contextmanager
def _source(name: str, *, alone: bool) -> Iterator[Source]:
    """Start a server, and a replica that acknowledges its commits before SELECTs see them."""
    settings = {"log_slave_updates": "ON"} if name.startswith("mariadb") else {}
    with ExitStack() as stack:
        database = stack.enter_context(running(KINDS[name](settings)))
        replica = None if alone else stack.enter_context(running(KINDS[name](settings)))
        if replica is not None:
            after_sync(database, replica)
        yield name, database, replica


def _round(
    source: Source, kafka: Kafka, zookeeper: ZooKeeper, seed: int, chosen: argparse.Namespace
) -> int:
    """Run one round and print what came of it; return how many keys are wrong."""
    name, database, replica = source
    schema = f"copied_{seed}"
    database.execute(
        f"create database {schema}",
        f"create table {schema}.t (id int primary key, n int, v longtext)",
    )
    with tempfile.TemporaryDirectory() as folder:
        standby = {}
        if replica is not None:
            standby = {"standby": {"host": replica.host, "port": replica.port}}
        installation = Installation(
            f"{schema}_{name.partition('-')[0]}",
            Path(folder),
            database,
            kafka,
            zookeeper,
            filter={"filter_regex": f"{schema}\\..*"},
            source={**standby, "heartbeat_seconds": 0.5},
            failover={"detecting_interval_seconds": 0.5},
            transaction={"split_bytes": 20_000},
            spool="mixed",
            spooling={"directory": f"{folder}/spool", "after_seconds": 1},
        )
        with closing(installation):
            topic = installation.name
            installation.map(
                topics=[{"logicDb": topic, "topic": topic}],
                dbs=[{"logicDb": topic, "realDbs": schema}],
            )
            found = one_round(
                installation,
                database,
                kafka,
                seed,
                chosen.faults,
                schema=schema,
                replica=replica,
                own_broker=True,
                only=chosen.act,
            )
    database.execute(f"drop database {schema}")
    print(
        f"{name} seed {seed}: {found.transactions} transactions, {found.copied} rows copied, "
        f"{', '.join(found.faults)}; {len(found.wrong)} wrong",
        flush=True,
    )
    for each in found.wrong[:10]:
        print(f"  {each}", flush=True)
    return len(found.wrong)


if __name__ == "__main__":
    sys.exit(main())

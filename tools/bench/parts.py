"""What it costs to read a giant transaction twice (ADR 43): `make bench-parts`.

The same rows are published three times by relays as operators run them: in one Kafka transaction,
which is read once; in parts, which is read once to its end first; and in parts with a third of its
rows rolled back to a savepoint, which is begun, read to its end, and read again. CPU seconds are
the kernel's, of the relay with its children and of the source.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

from rich.console import Console

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from deploy.embedded.fetching.progress import say
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.counting_load import binlog_end, published_end
from tests.support.waiting import wait_until
from tools.bench.measuring.machine import setting
from tools.bench.measuring.report import Report
from tools.bench.measuring.usage import cpu_seconds

_ROW_BYTES: Final = 1000
_MEGABYTE: Final = 1_000_000
_TIMEOUT_MS: Final = 600_000
"""Of a Kafka transaction: its third, after which a part is due, must not end one that is to be
whole.
"""
_SETTLE_SECONDS: Final = 600.0
WHOLE: Final = "whole"
PARTS: Final = "parts"
ROLLED_BACK: Final = "rolled back"
WAYS: Final = {
    WHOLE: "one Kafka transaction; read once",
    PARTS: "parts of 64 MB; read to its end, then published",
    ROLLED_BACK: "the same with a third of the rows rolled back to a savepoint",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One lap: seconds from the relay's start to the end of the binlog, and CPU seconds meanwhile.

    `load` is that of the last minute.
    """

    way: str
    lap: int
    binlog_mb: int
    seconds: float
    relay_cpu_s: float
    source_cpu_s: float
    load: float


@dataclass(frozen=True, slots=True)
class Stage:
    """Servers that all laps share."""

    database: MariaDB
    kafka: Kafka
    zookeeper: ZooKeeper
    folder: Path


def measure(stage: Stage, way: str, lap: int, megabytes: int) -> Found:
    """Write the transaction while no relay runs, then publish it."""
    name, load = f"parts_{lap}_{way.replace(' ', '_')}", round(os.getloadavg()[0], 2)
    with _installation(stage, name, way) as installation, RelayProcess(installation, name) as relay:
        relay.wait_for("RUNNING")
        stage.database.execute(f"insert into {name}.t values (-1, 0, 'first')")
        wait_until(
            lambda: published_end(installation) == binlog_end(stage.database), "the first row", 30
        )
        relay.stop()
        before = binlog_end(stage.database)
        _write(stage.database, name, way, megabytes)
        end = binlog_end(stage.database)
        began_s, source_s = monotonic(), cpu_seconds(stage.database.pid)
        relay.start()
        wait_until(
            lambda: published_end(installation) >= end,
            f"the end of the binlog, {end}",
            _SETTLE_SECONDS,
        )
        seconds = monotonic() - began_s
        return Found(
            way,
            lap,
            (end[1] - before[1]) // _MEGABYTE if end[0] == before[0] else megabytes,
            round(seconds, 1),
            round(cpu_seconds(relay.pid), 1),
            round(cpu_seconds(stage.database.pid) - source_s, 1),
            load,
        )


@contextmanager
def _installation(stage: Stage, name: str, way: str) -> Iterator[Installation]:
    stage.database.execute(
        f"create database {name}", f"create table {name}.t (id int primary key, n int, v longtext)"
    )
    split = {"split_bytes": 2**40} if way == WHOLE else {}
    transaction: dict[str, Any] = {"timeout_ms": _TIMEOUT_MS, **split}
    wanted: dict[str, Any] = {
        "filter": {"filter_regex": f"{name}\\..*"},
        "transaction": transaction,
    }
    installation = Installation(
        name, stage.folder, stage.database, stage.kafka, stage.zookeeper, **wanted
    )
    try:
        installation.map(
            topics=[{"logicDb": name, "topic": name}], dbs=[{"logicDb": name, "realDbs": name}]
        )
        yield installation
    finally:
        installation.close()


def _write(database: MariaDB, name: str, way: str, megabytes: int) -> None:
    """Insert so much in one transaction.

    MariaDB leaves rolled-back rows in its binlog beside a table without transactions.
    """
    third = megabytes * _MEGABYTE // _ROW_BYTES // 3
    with (
        database.connect(user="repl", autocommit=False) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f"create temporary table {name}.scratch (a int) engine=myisam")
        cursor.execute("begin")
        for number in range(3):
            if number == 1:
                cursor.execute("savepoint s")
            first = number * third
            cursor.execute(
                f"insert into {name}.t select seq + {first}, 0, repeat('x', {_ROW_BYTES}) from "
                f"{name}.seq_1_to_{third}"
            )
            if number == 1:
                cursor.execute(f"insert into {name}.scratch values (1)")
                if way == ROLLED_BACK:
                    cursor.execute("rollback to savepoint s")
        connection.commit()


@contextmanager
def _stage() -> Iterator[Stage]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roma-parts-")))
        database = stack.enter_context(MariaDB({"sync_binlog": 0, "max_binlog_cache_size": 2**32}))
        kafka, zookeeper = stack.enter_context(Kafka()), stack.enter_context(ZooKeeper())
        yield Stage(database, kafka, zookeeper, folder)


def page(found: Sequence[Found]) -> Report:
    """One line for each way: medians of its laps."""
    head = ("transaction", "what", "binlog", "seconds", "relay CPU s", "source CPU s", "load")
    rows = []
    for way, what in WAYS.items():
        laps = [each for each in found if each.way == way]
        medians = [statistics.median(figures) for figures in zip(*map(_figures, laps), strict=True)]
        rows.append(
            (way, what, f"{laps[0].binlog_mb:,} MB", *(f"{median:.1f}" for median in medians))
        )
    notes = (
        (
            f"Rows of {_ROW_BYTES} bytes, medians of {max(each.lap for each in found)} laps; the "
            f"ways take turns on the same servers."
        ),
        (
            "Seconds from the start of the relay's process to the end of the binlog; its start "
            "is in all of them, and in its CPU seconds."
        ),
        (
            "Load is the machine's load average of one minute before a lap: beyond its cores, "
            "seconds say little, and CPU seconds rise, too."
        ),
    )
    return Report(
        "A giant transaction that is read twice",
        head,
        rows,
        notes,
        [asdict(each) for each in found],
    )


def _figures(found: Found) -> tuple[float, float, float, float]:
    return found.seconds, found.relay_cpu_s, found.source_cpu_s, found.load


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.parts", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--laps", type=int, default=3)
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="write the table there, as Markdown and JSON"
    )
    arguments = parser.parse_args()
    here = setting(sys.argv[1:])
    here = replace(here, command=here.command.replace("tools.bench", "tools.bench.parts"))
    here = replace(
        here,
        versions={
            "MariaDB": MariaDB.fetch().removeprefix("mariadb-"),
            "Kafka": Kafka.fetch().removeprefix("kafka-"),
        },
    )
    found = []
    with _stage() as stage:
        for lap in range(1, arguments.laps + 1):
            for way in WAYS if lap % 2 else reversed(WAYS):
                found.append(measure(stage, way, lap, arguments.megabytes))
                say(str(found[-1]))
    Console(width=160).print(page(found).table())
    if arguments.into:
        page(found).write(arguments.into, "parts", here)


if __name__ == "__main__":
    main()

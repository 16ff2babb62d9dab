"""How much memory the relay takes at most: `python -m tools.bench.memory SCENARIO... [--into
FOLDER]`.

Each scenario has servers of its own and a relay as operators run it, and looks at the kernel's
high-water mark of resident memory (VmHWM) before and behind what it does. The stated bound beside
it is that of docs/operations/sizing.md.
"""

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

from rich.console import Console

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from deploy.embedded.fetching.progress import say
from relay.settings import RelaySettings
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.counting_load import binlog_end, published_end
from tests.support.waiting import wait_until
from tools.bench.measuring.machine import setting
from tools.bench.measuring.report import Report
from tools.bench.measuring.usage import peak_bytes

TABLES: Final = 10_000
_END_SECONDS: Final = 80.0
_MIB: Final = 1 << 20
_NAME: Final = "memory"


@dataclass(frozen=True, slots=True)
class Found:
    """Resident memory in MiB: at rest, at most, and what is stated.

    How much binlog passed in which time.
    """

    scenario: str
    rest_mib: int
    peak_mib: int
    stated_mib: int
    binlog_mb: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Stage:
    """What a scenario has at hand; table `memory.t` is mapped."""

    database: MariaDB
    kafka: Kafka
    installation: Installation
    relay: RelayProcess


@dataclass(frozen=True, slots=True)
class Scenario:
    """`act` is what may take memory, `prepare` comes before the relay.

    `tables` are met and the largest event has `event_bytes`.
    """

    what: str
    act: Callable[[Stage], None]
    tables: int = 1
    event_bytes: int = 10_000
    instance: Callable[[Path], dict[str, Any]] = lambda _: {}
    prepare: Callable[[MariaDB], None] = lambda _: None


def stated_bytes(settings: RelaySettings, tables: int, event_bytes: int) -> int:
    """The bound of docs/operations/sizing.md, for a process with one instance."""
    buffer = settings.instances[0].buffer
    client = max(settings.kafka.queue_bytes, 2 * settings.kafka.message_max_bytes)
    return (
        120 * _MIB
        + 2 * buffer.buffer_size * buffer.buffer_memunit_bytes
        + 3 * client
        + 8 * event_bytes
        + 10_000 * tables
    )


def slow_broker(stage: Stage) -> None:
    """Rows for 20 s at full speed, while the broker is paused for nine tenths of the time."""
    ended = threading.Event()
    slow = threading.Thread(target=_slow_down, args=(stage.kafka, ended), name="slow")
    slow.start()
    try:
        with stage.database.connect() as connection, connection.cursor() as cursor:
            first, until_s = 0, monotonic() + 20
            while monotonic() < until_s and first < 200_000:
                cursor.execute(
                    f"insert into {_NAME}.t select seq + {first}, 0, repeat('x', 1000) from "
                    f"{_NAME}.seq_1_to_500"
                )
                first += 500
        ended.wait(10)
    finally:
        ended.set()
        slow.join()


def giant_transaction(stage: Stage) -> None:
    """Insert 100,000 rows of 10 KB in one transaction."""
    stage.database.execute(
        f"insert into {_NAME}.t select seq, 0, repeat(md5(seq), 320) from {_NAME}.seq_1_to_100000"
    )


def make_tables(database: MariaDB) -> None:
    """Create TABLES small tables before the relay starts."""
    with database.connect() as connection, connection.cursor() as cursor:
        for number in range(TABLES):
            cursor.execute(
                f"create table {_NAME}.t{number} (id int primary key, n int, v varchar(100)) "
                f"engine=memory"
            )


def many_tables(stage: Stage) -> None:
    """Insert two rows into each of TABLES tables, in two rounds over all of them."""
    with stage.database.connect() as connection, connection.cursor() as cursor:
        for row in (1, 2):
            for number in range(TABLES):
                cursor.execute(f"insert into {_NAME}.t{number} values ({row}, 1, 'row')")


def spool(stage: Stage) -> None:
    """Kill the broker, write until the spool has more than 200 MB, start the broker again."""
    stage.kafka.kill()
    for first in range(0, 200_000, 20_000):
        stage.database.execute(
            f"insert into {_NAME}.t select seq + {first}, 0, repeat('x', 1000) from "
            f"{_NAME}.seq_1_to_20000"
        )
    wait_until(lambda: _spooled(stage.installation) > 200_000_000, "the spool", 40)
    stage.kafka.start()


SCENARIOS: Final = {
    "slow-broker": Scenario(
        "200 MB of rows while the broker is paused for nine tenths of the time", slow_broker
    ),
    "giant-transaction": Scenario("one transaction of 1 GB, in rows of 10 KB", giant_transaction),
    "many-tables": Scenario(
        "two rows in each of 10,000 tables", many_tables, tables=TABLES, prepare=make_tables
    ),
    "spool": Scenario(
        'spool = "mixed": 200 MB of rows while Kafka is away, then published from disk',
        spool,
        instance=lambda folder: {
            "spool": "mixed",
            "spooling": {"directory": str(folder / "spool"), "after_seconds": 1},
        },
    ),
}


def measure(name: str) -> Found:
    """Run one scenario to the end: everything is published."""
    scenario = SCENARIOS[name]
    with _stage(scenario) as stage:
        rest, begin_bytes, began_s = (
            peak_bytes(stage.relay.pid),
            _binlog_bytes(stage.database),
            monotonic(),
        )
        scenario.act(stage)
        end = binlog_end(stage.database)
        wait_until(
            lambda: published_end(stage.installation) >= end,
            f"the end of the binlog, {end}",
            _END_SECONDS,
        )
        stated = stated_bytes(stage.installation.settings, scenario.tables, scenario.event_bytes)
        peak, seconds = peak_bytes(stage.relay.pid), round(monotonic() - began_s, 1)
        passed_mb = (_binlog_bytes(stage.database) - begin_bytes) // 1_000_000
    return Found(name, rest // _MIB, peak // _MIB, stated // _MIB, passed_mb, seconds)


@contextmanager
def _stage(scenario: Scenario) -> Iterator[Stage]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roma-memory-")))
        database = stack.enter_context(MariaDB({"sync_binlog": 0, "sync_frm": "OFF"}))
        kafka, zookeeper = stack.enter_context(Kafka()), stack.enter_context(ZooKeeper())
        database.execute(
            f"create database {_NAME}",
            f"create table {_NAME}.t (id int primary key, n int, v longtext)",
        )
        scenario.prepare(database)
        installation = Installation(
            _NAME, folder, database, kafka, zookeeper, **scenario.instance(folder)
        )
        stack.callback(installation.close)
        installation.map(
            topics=[{"logicDb": _NAME, "topic": _NAME}], dbs=[{"logicDb": _NAME, "realDbs": _NAME}]
        )
        relay = stack.enter_context(RelayProcess(installation))
        relay.wait_for("RUNNING")
        database.execute(f"insert into {_NAME}.t values (-1, 0, 'first')")
        wait_until(lambda: published_end(installation) == binlog_end(database), "the first row", 30)
        yield Stage(database, kafka, installation, relay)


def _slow_down(kafka: Kafka, ended: threading.Event) -> None:
    while not ended.is_set():
        kafka.pause()
        ended.wait(0.9)
        kafka.resume()
        ended.wait(0.1)


def _binlog_bytes(database: MariaDB) -> int:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("show binary logs")
        return sum(int(row[1]) for row in cursor.fetchall())


def _spooled(installation: Installation) -> int:
    status = installation.status()
    return status.spool_bytes if status is not None else 0


def page(found: list[Found]) -> Report:
    """One line for each scenario."""
    head = ("scenario", "what", "at rest", "at most", "stated", "binlog", "seconds")
    rows = [
        (each.scenario, SCENARIOS[each.scenario].what, f"{each.rest_mib} MiB", f"{each.peak_mib} MiB", f"{each.stated_mib} MiB",  # noqa: E501
         f"{each.binlog_mb:,} MB", f"{each.seconds:.0f}")
        for each in found
    ]  # fmt: skip
    notes = (
        (
            "Resident memory of the relay process at its highest (VmHWM), one instance, default "
            "settings; at rest: one row is published."
        ),
        (
            "Stated is the bound of docs/operations/sizing.md. Seconds: until everything was "
            "published."
        ),
    )
    return Report("Memory of the relay", head, rows, notes, [asdict(each) for each in found])


def main() -> int:
    """Run the command line; 1 when a bound was broken."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.memory", description=__doc__)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="none: all")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="add the figures to memory.json there, and write the table anew",
    )
    arguments = parser.parse_args()
    here = replace(setting(()), command="python -m tools.bench.memory")
    here = replace(
        here,
        versions={
            "MariaDB": MariaDB.fetch().removeprefix("mariadb-"),
            "Kafka": Kafka.fetch().removeprefix("kafka-"),
        },
    )
    found = [measure(name) for name in arguments.scenario or SCENARIOS]
    for each in found:
        say(str(each))
    if arguments.into:
        known = {each.scenario: each for each in [*_earlier(arguments.into), *found]}
        page([known[name] for name in SCENARIOS if name in known]).write(
            arguments.into, "memory", here
        )
    Console(width=160).print(page(found).table())
    return 0 if all(each.peak_mib <= each.stated_mib for each in found) else 1


def _earlier(folder: Path) -> list[Found]:
    file = folder / "memory.json"
    return (
        [Found(**each) for each in json.loads(file.read_text(encoding="utf-8"))["measured"]]
        if file.exists()
        else []
    )


if __name__ == "__main__":
    sys.exit(main())

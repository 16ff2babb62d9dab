"""Measures the peak memory of the relay: `python -m tools.bench.memory SCENARIO... [--into
FOLDER]`.

Each scenario has its own servers and a relay with default settings. The tool reads the peak
resident memory (VmHWM) of the relay before and after the load. The report shows the peak next to
the bound of docs/operations/sizing.md.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Final

from rich.console import Console

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from deploy.embedded.fetching.progress import say
from relay.settings import RelaySettings
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.counting_load import binlog_end, published_end
from tests.support.waiting import wait_until
from tools.bench.measuring.machine import server_versions, setting
from tools.bench.measuring.report import Report
from tools.bench.measuring.usage import peak_bytes
from tools.bench.memory_scenarios import NAME, SCENARIOS, Scenario, ScenarioSetup

_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a scenario.

    rest_mib    peak of the resident memory before the load
    peak_mib    peak of the resident memory after the load
    stated_mib  its bound in the documentation
    binlog_mb   megabytes of binlog that the load wrote
    seconds     duration of the load
    """

    scenario: str
    rest_mib: int
    peak_mib: int
    stated_mib: int
    binlog_mb: int
    seconds: float


def stated_bytes(settings: RelaySettings, tables: int, event_bytes: int) -> int:
    """Return the bound of docs/operations/sizing.md for a process with one instance."""
    buffer = settings.instances[0].buffer
    client = max(settings.kafka.queue_bytes, 2 * settings.kafka.message_max_bytes)
    return (
        (75 + 45 + 45) * _MIB  # the process, its child, one instance
        + 2 * buffer.buffer_size * buffer.buffer_memunit_bytes
        + 3 * client
        + 8 * event_bytes
        + 10_000 * tables
    )


def measure(name: str) -> Found:
    """Run one scenario to the end: everything is published."""
    scenario = SCENARIOS[name]
    with _scenario_setup(scenario) as setup:
        rest, begin_bytes, began_s = (
            peak_bytes(setup.relay.pid),
            _binlog_bytes(setup.database),
            monotonic(),
        )
        scenario.act(setup)
        end = binlog_end(setup.database)
        wait_until(
            lambda: published_end(setup.installation) >= end,
            f"the end of the binlog, {end}",
            scenario.end_seconds,
        )
        stated = stated_bytes(setup.installation.settings, scenario.tables, scenario.event_bytes)
        peak, seconds = peak_bytes(setup.relay.pid), round(monotonic() - began_s, 1)
        passed_mb = (_binlog_bytes(setup.database) - begin_bytes) // 1_000_000
    return Found(name, rest // _MIB, peak // _MIB, stated // _MIB, passed_mb, seconds)


@contextmanager
def _scenario_setup(scenario: Scenario) -> Iterator[ScenarioSetup]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roma-memory-")))
        database = stack.enter_context(MariaDB({"sync_binlog": 0, "sync_frm": "OFF"}))
        kafka, zookeeper = stack.enter_context(Kafka()), stack.enter_context(ZooKeeper())
        database.execute(
            f"create database {NAME}",
            f"create table {NAME}.t (id int primary key, n int, v longtext)",
        )
        scenario.prepare(database)
        installation = Installation(
            NAME, folder, database, kafka, zookeeper, **scenario.instance(folder)
        )
        stack.callback(installation.close)
        installation.map(
            topics=[{"logicDb": NAME, "topic": NAME}], dbs=[{"logicDb": NAME, "realDbs": NAME}]
        )
        relay = stack.enter_context(RelayProcess(installation))
        relay.wait_for("RUNNING")
        database.execute(f"insert into {NAME}.t values (-1, 0, 'first')")
        wait_until(lambda: published_end(installation) == binlog_end(database), "the first row", 30)
        yield ScenarioSetup(database, kafka, installation, relay)


def _binlog_bytes(database: MariaDB) -> int:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("show binary logs")
        return sum(int(row[1]) for row in cursor.fetchall())


def page(found: list[Found]) -> Report:
    """Return the report, with one line for each scenario."""
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
    """Run the command line; return 1 if a bound was exceeded."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.memory", description=__doc__)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="add the figures to memory.json in this folder, and write its table again",
    )
    arguments = parser.parse_args()
    command = "python -m tools.bench.memory"
    here = replace(setting(()), command=command, versions=server_versions())
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

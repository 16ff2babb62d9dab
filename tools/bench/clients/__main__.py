"""Compares the client with a plain consumer that parses JSON, and with Canal: `make bench-client`.

All readers get the same rows of one table with twelve columns. The client and the plain consumer
read two topics of the relay. One has a message for each row, the other a message for each row
event.
Canal's client reads from a real Canal server, which reads the same binlog and makes one entry of
each row event. CPU seconds are those of the reader's process, with the threads of Kafka's client.
They are not measured for Canal's client.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rich.console import Console

from deploy.embedded import DebianMariaDB, Kafka, ZooKeeper
from deploy.embedded.fetching.progress import say
from relay.settings import RelaySettings
from tests.support.clients.canal.real_canal import RealCanal
from tests.support.relays.admin_server import TOKEN, serving
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.counting_load import binlog_end, published_end
from tests.support.waiting import wait_until
from tools.bench.clients.reading import CLIENT, PLAIN, WAYS, Cost, cost, cost_of_group
from tools.bench.measuring.machine import server_versions, setting
from tools.bench.measuring.report import Report

CANAL: Final = "Canal's client"
_MEMBERS: Final = 2
GROUP: Final = f"roma_client, {_MEMBERS} processes of a group"
_PER_MESSAGE: Final = MappingProxyType({"row": "", "event": ", packed by event"})
_NAME: Final = "reading"
_WIDTH: Final = 160
_SETTLE_SECONDS: Final = 600.0
_BLOCK: Final = 1000
_TABLE: Final = (
    f"create table {_NAME}.t (id bigint primary key, customer int, state varchar(20), total "
    "decimal(12,2), currency char(3), created datetime(3), changed timestamp(3) null, note "
    "varchar(200), weight double, items int, open tinyint, region varchar(40))"
)
_ROWS: Final = (
    "insert into {name}.t select seq, seq % 1000, 'paid', seq / 7, 'EUR', '2026-01-31 10:00:00.5', "
    "'2026-01-31 10:00:01.5', concat('note of order ', seq), seq / 3, seq % 9, 1, 'north-west' "
    "from {name}.seq_{first}_to_{last}"
)
_NOTE: Final = (
    "{:,} rows of twelve columns, one a message where the table does not say otherwise; medians of "
    "the rounds."
)


class Measured:
    """The costs of each client, round by round."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.costs: dict[str, list[Cost]] = {}

    def add(self, way: str, found: Cost) -> None:
        """Add the cost of one round of the reader `way`."""
        self.costs.setdefault(way, []).append(found)
        say(f"{way}: {self.rows / found.seconds:,.0f} rows/s, {found.cpu_seconds:.2f} CPU s")

    def report(self) -> Report:
        """Return the medians of each reader, and their ratios to those of the plain consumer."""
        head = ("reader", "", "rows/s", "times plain", "CPU µs per row", "plain / reader")
        plain = self._medians(PLAIN)
        rows = []
        for way in self.costs:
            own = self._medians(way)
            cpu = own.cpu_seconds > 0
            rows.append(
                (
                    *(way, "", f"{self.rows / own.seconds:,.0f}"),
                    f"{plain.seconds / own.seconds:.2f}",
                    f"{own.cpu_seconds / self.rows * 1e6:.1f}" if cpu else "",
                    f"{plain.cpu_seconds / own.cpu_seconds:.2f}" if cpu else "",
                )
            )
        notes = (_NOTE.format(self.rows),)
        told = [{"way": w, **c._asdict()} for w, costs in self.costs.items() for c in costs]
        return Report("Readers of the same rows", head, rows, notes, told)

    def _medians(self, way: str) -> Cost:
        return Cost(*map(statistics.median, zip(*self.costs[way], strict=True)))


def main() -> int:
    """Measure the clients and print the report; see `--help`. Return the exit code."""
    arguments = _parser().parse_args()
    measured = Measured(arguments.rows)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roma-readers-")))
        database = stack.enter_context(DebianMariaDB({"innodb_flush_log_at_trx_commit": 0}))
        database.execute(f"create database {_NAME}", _TABLE)
        if arguments.canal:
            with RealCanal(database, _NAME, folder, by_memory=True) as canal:
                measured.add(CANAL, Cost(_seconds_of_canal(canal, database, arguments.rows), 0))
        for packing, suffix in _PER_MESSAGE.items():
            own = folder / packing
            own.mkdir()
            with _published(database, own, arguments.rows, packing) as where:
                for number in range(arguments.rounds):
                    _measure(measured, number, where, suffix)
    report = measured.report()
    Console(width=_WIDTH).print(report.table())
    if arguments.into:
        here = replace(setting(sys.argv[1:], "tools.bench.clients"), versions=server_versions())
        report.write(arguments.into, "clients", here)
    return 0


def _measure(measured: Measured, number: int, where: Mapping[str, Any], suffix: str) -> None:
    """Measure one round of all readers of a topic; the order of the readers alternates."""
    for way in list(WAYS) if number % 2 else reversed(list(WAYS)):
        own = {**where, "group": f"{way}-{number}".replace(" ", "-").replace(",", "")}
        measured.add(way + suffix, cost(way, measured.rows, own))
    own = {**where, "group": f"members-{number}"}
    measured.add(GROUP + suffix, cost_of_group(CLIENT, _MEMBERS, measured.rows, own))


def _write(database: DebianMariaDB, rows: int) -> None:
    for first in range(1, rows + 1, _BLOCK):
        last = min(rows, first + _BLOCK - 1)
        database.execute(_ROWS.format(name=_NAME, first=first, last=last))


def _seconds_of_canal(canal: RealCanal, database: DebianMariaDB, rows: int) -> float:
    """Write the rows while Canal's client is not connected; return how long the client then takes
    to read them.
    """
    canal.say("connect")
    canal.say("subscribe", rf"{_NAME}\..*")
    keys = iter(range(-1, -10_000, -1))

    def arrived() -> bool:
        """Insert until Canal, which begins at the end, has a position."""
        database.execute(f"insert into {_NAME}.t (id) values ({next(keys)})")
        return canal.batch("get", _BLOCK, 500).rows != []

    wait_until(arrived, "Canal's first row", 60)
    while canal.batch("get", _BLOCK, 500).id != -1:
        pass
    canal.say("disconnect")
    _write(database, rows)
    canal.say("connect")
    canal.say("subscribe", rf"{_NAME}\..*")
    return canal.drain(rows, _BLOCK)


@contextmanager
def _published(
    database: DebianMariaDB, folder: Path, rows: int, packing: str
) -> Iterator[Mapping[str, Any]]:
    """Publish all rows with this `rows_per_message`, and serve an admin.

    Yields the settings that readers need.
    """
    with ExitStack() as stack:
        kafka, zookeeper = stack.enter_context(Kafka()), stack.enter_context(ZooKeeper())
        own: Mapping[str, Any] = {
            "filter": {"filter_regex": f"{_NAME}\\..*"},
            "message": {"rows_per_message": packing},
        }
        installation = Installation(_NAME, folder, database, kafka, zookeeper, **own)
        stack.callback(installation.close)
        installation.map(
            topics=[{"logicDb": _NAME, "topic": _NAME}],
            dbs=[{"logicDb": _NAME, "realDbs": _NAME}],
            tbs=[{"logicTb": "t", "realTbs": "t"}],
        )
        document = {**installation.document, "api": {"port": 0, "token": TOKEN}, "placement": {}}
        server = stack.enter_context(serving(RelaySettings.model_validate(document)))
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            database.execute(f"truncate table {_NAME}.t")  # rows of the reader before
            _write(database, rows)
            end = binlog_end(database)
            wait_until(lambda: published_end(installation) >= end, "all rows", _SETTLE_SECONDS)
        yield {
            "bootstrap": kafka.bootstrap,
            "topic": _NAME,
            "database": _NAME,
            "table": "t",
            "admin": server.url,
            "token": TOKEN,
            "cache": str(folder / "cache"),
        }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.clients", description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-canal", dest="canal", action="store_false")
    parser.add_argument(
        "--into", type=Path, metavar="FOLDER", help="write the table into this folder"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

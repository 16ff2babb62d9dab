"""Compares variants of publishing, which alternate on the same servers with a new relay each."""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from rich.console import Console

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from deploy.embedded.fetching.progress import say
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.counting_load import binlog_end, published_end
from tests.support.waiting import wait_until
from tools.bench.measuring.machine import server_versions, setting
from tools.bench.measuring.report import Report

_WIDTH = 160


class RunFigures(Protocol):
    """The figures of one round of a variant."""

    @property
    def variant(self) -> str:
        """Return the name of the variant."""


Found = TypeVar("Found", bound=RunFigures)


@dataclass(frozen=True, slots=True)
class SharedServers:
    """The servers that all rounds of a comparison use."""

    database: MariaDB
    kafka: Kafka
    zookeeper: ZooKeeper
    folder: Path


@dataclass(frozen=True, slots=True)
class Comparison(Generic[Found]):
    """A command that measures variants in alternating order.

    program   last part of the module's name
    what      help text
    option    name of the option that says how much each round publishes
    amount    default of this option
    database  settings of the source
    """

    program: str
    what: str | None
    option: str
    amount: int
    variants: Sequence[str]
    database: Mapping[str, Any]
    measure: Callable[[SharedServers, str, int, int], Found]
    page: Callable[[Sequence[Found]], Report]

    def main(self) -> None:
        """Run the comparison by its command line."""
        module = f"tools.bench.{self.program}"
        parser = argparse.ArgumentParser(prog=f"python -m {module}", description=self.what)
        parser.add_argument(f"--{self.option}", type=int, default=self.amount, dest="amount")
        parser.add_argument("--rounds", type=int, default=3)
        parser.add_argument(
            "--into",
            type=Path,
            metavar="FOLDER",
            help="write the table into this folder, as Markdown and JSON",
        )
        arguments = parser.parse_args()
        here = setting(sys.argv[1:])
        command = here.command.replace("tools.bench", module)
        here = replace(here, command=command, versions=server_versions())
        report = self.page(list(self._found(arguments.rounds, arguments.amount)))
        Console(width=_WIDTH).print(report.table())
        if arguments.into:
            report.write(arguments.into, self.program, here)

    def _found(self, rounds: int, amount: int) -> Iterator[Found]:
        with _shared_servers(self.program, self.database) as servers:
            for number in range(1, rounds + 1):
                for variant in self.variants if number % 2 else reversed(self.variants):
                    found = self.measure(servers, variant, number, amount)
                    say(str(found))
                    yield found


@contextmanager
def _shared_servers(program: str, settings: Mapping[str, Any]) -> Iterator[SharedServers]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=f"roma-{program}-"))
        database = stack.enter_context(MariaDB(dict(settings)))
        kafka, zookeeper = stack.enter_context(Kafka()), stack.enter_context(ZooKeeper())
        yield SharedServers(database, kafka, zookeeper, Path(folder))


@contextmanager
def installed(
    servers: SharedServers, name: str, tables: Iterable[str], instance: Mapping[str, Any]
) -> Iterator[Installation]:
    """Context manager: create the database `name` with tables, and an installation with a mapping
    that publishes the database under its own name.

    tables    statements that create the tables
    instance  settings of the instance
    """
    servers.database.execute(f"create database {name}", *tables)
    installation = Installation(
        name,
        servers.folder,
        servers.database,
        servers.kafka,
        servers.zookeeper,
        filter={"filter_regex": f"{name}\\..*"},
        **instance,
    )
    try:
        installation.map(
            topics=[{"logicDb": name, "topic": name}], dbs=[{"logicDb": name, "realDbs": name}]
        )
        yield installation
    finally:
        installation.close()


def seconds_to_publish(
    servers: SharedServers,
    relay: RelayProcess,
    installation: Installation,
    first: str,
    write: Callable[[], None],
    most_seconds: float,
) -> float:
    """Write while no relay runs; return the seconds from the relay's start until all is published.

    relay         it must run at the call; it is stopped for `write`, and started again
    first         statement that writes a row, which the relay publishes before the measurement
    most_seconds  time limit for publishing
    """
    relay.wait_for("RUNNING")
    servers.database.execute(first)
    wait_until(
        lambda: published_end(installation) == binlog_end(servers.database), "the first row", 30
    )
    relay.stop()
    write()
    end = binlog_end(servers.database)
    began_s = monotonic()
    relay.start()
    wait_until(
        lambda: published_end(installation) >= end, f"the end of the binlog, {end}", most_seconds
    )
    return monotonic() - began_s


def medians_of(
    variant: str, found: Sequence[Found], figures: Callable[[Found], tuple[float, ...]]
) -> list[float]:
    """Return the median of each figure over the rounds of a variant."""
    rounds = [figures(each) for each in found if each.variant == variant]
    return [statistics.median(each) for each in zip(*rounds, strict=True)]

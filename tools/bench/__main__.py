"""`python -m tools.bench throughput | latency | scaling`: see `--help`, and `make bench`."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console

from deploy.embedded import EmbeddedError, Kafka, MariaDB, MySQL, SqlServer, ZooKeeper
from deploy.embedded.fetching.progress import say
from tools.bench import scaling
from tools.bench.measuring import live
from tools.bench.measuring.figures import LiveRun, summarize
from tools.bench.measuring.machine import Setting, setting
from tools.bench.measuring.notes import live_notes, throughput_notes
from tools.bench.measuring.orders import Orders
from tools.bench.measuring.report import Report, live_report, throughput_report
from tools.bench.measuring.workload import Workload, fill
from tools.bench.peers.canal import Canal
from tools.bench.peers.contestant import BenchFailed, RunSetup, not_measured
from tools.bench.peers.debezium import Debezium
from tools.bench.peers.maxwell import Maxwell
from tools.bench.throughput import CANAL, DEBEZIUM, ENTRIES, MAXWELL, PLAIN, RELAY, TWO_IDS, Race
from tools.bench.wide import Wide

_SERVERS: Final[dict[str, type[SqlServer]]] = {"mariadb": MariaDB, "mysql": MySQL}
_LIVE: Final = (RELAY, TWO_IDS, DEBEZIUM, MAXWELL)
_PEERS: Final[dict[str, type[Debezium | Maxwell | Canal]]] = {
    DEBEZIUM: Debezium,
    MAXWELL: Maxwell,
    CANAL: Canal,
}
_WIDTH: Final = 230


def main() -> int:
    """Run the command line; the result is the exit code."""
    arguments = _parser().parse_args()
    here = setting(sys.argv[1:])  # before any process of the benchmark uses the machine
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that everything started here is ended
    try:
        if arguments.command == "scaling":
            return _scaling(arguments, here)
        report, versions, failures = (
            _throughput(arguments) if arguments.command == "throughput" else _latency(arguments)
        )
    except (BenchFailed, EmbeddedError) as failure:
        say(str(failure))
        return 1
    _show(report, arguments, arguments.command, replace(here, versions=versions))
    return 1 if failures else 0


def _show(report: Report, arguments: argparse.Namespace, name: str, here: Setting) -> None:
    Console(width=_WIDTH).print(report.table())
    for line in report.notes:
        say(line)
    if arguments.into:
        report.write(arguments.into, name, here)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    throughput = commands.add_parser(
        "throughput", help="rows per second of relay and peers on one binlog"
    )
    _throughput_options(throughput)
    latency = commands.add_parser(
        "latency", help="milliseconds from the commit on the server to a read_committed consumer"
    )
    _latency_options(latency)
    for command, entries in ((throughput, (*ENTRIES, PLAIN)), (latency, _LIVE)):
        _common_options(command, entries)
    _scaling_options(
        commands.add_parser("scaling", help="rows per second of the relay while one quantity grows")
    )
    return parser


def _throughput_options(throughput: argparse.ArgumentParser) -> None:
    throughput.add_argument(
        "--rows",
        type=int,
        default=400_000,
        help="rows inserted in bulk (each is updated, a fifth deleted)",
    )
    throughput.add_argument(
        "--transactions", type=int, default=50_000, help="small transactions of three or four rows"
    )
    throughput.add_argument(
        "--wide",
        type=int,
        metavar="ROWS",
        default=0,
        help="also run the wide workload: rows of sixty columns",
    )
    throughput.add_argument("--rounds", type=int, default=2)
    throughput.add_argument("--quick", action="store_true", help="a tenth of the rows, one round")


def _latency_options(latency: argparse.ArgumentParser) -> None:
    latency.add_argument(
        "--rate", type=float, default=500, help="transactions of one row per second"
    )
    latency.add_argument("--seconds", type=float, default=30)
    latency.add_argument(
        "--idle",
        type=float,
        default=20,
        metavar="SECONDS",
        help="seconds of the CPU measurement without load",
    )
    latency.add_argument("--quick", action="store_true", help="a third of the time")


def _common_options(command: argparse.ArgumentParser, entries: Sequence[str]) -> None:
    command.add_argument(
        "--server",
        action="append",
        choices=list(_SERVERS),
        help="only this server; may be repeated",
    )
    command.add_argument(
        "--only", action="append", choices=entries, help="only this contestant; may be repeated"
    )
    command.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="write the table into this folder, as Markdown and JSON",
    )


def _scaling_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="ends and middle of every series, a fifth of the rows, one round",
    )
    parser.add_argument("--server", choices=list(_SERVERS), default="mariadb")
    parser.add_argument(
        "--only",
        action="append",
        choices=scaling.SERIES_NAMES,
        help="only this series; may be repeated",
    )
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="write tables and plots into this folder, as Markdown, JSON and SVG",
    )


def _throughput(arguments: argparse.Namespace) -> tuple[Report, dict[str, str], list[str]]:
    rows, transactions, rounds = arguments.rows, arguments.transactions, arguments.rounds
    if arguments.quick:
        rows, transactions, rounds = rows // 10, transactions // 10, 1
    workloads: list[Workload] = [Orders(rows, transactions)] if rows or transactions else []
    workloads += [Wide(arguments.wide)] if arguments.wide else []
    kinds, entries, versions = _available(arguments, (*ENTRIES, PLAIN))
    with ZooKeeper() as zookeeper, Kafka() as kafka:
        race = Race(kafka, zookeeper)
        for workload in workloads:
            race.rounds(kinds, workload, entries, rounds)
    reference = MAXWELL if MAXWELL in entries else DEBEZIUM
    notes = [*throughput_notes(workloads), *race.failures]
    return (
        throughput_report(race.runs, summarize(race.runs, reference), reference, notes),
        versions,
        race.failures,
    )


def _latency(arguments: argparse.Namespace) -> tuple[Report, dict[str, str], list[str]]:
    share = 3 if arguments.quick else 1
    load = live.Load(
        arguments.rate, arguments.seconds / share, warm_s=10 / share, idle_s=arguments.idle / share
    )
    kinds, entries, versions = _available(arguments, _LIVE)
    found: list[LiveRun] = []
    failures: list[str] = []
    with ZooKeeper() as zookeeper, Kafka() as kafka:
        # The first run would include the warm-up of a new broker, so it is not counted. An error in
        # it
        # occurs in the counted runs too, and is reported there.
        for label, kind, name in [(0, kinds[0], entries[0]), *_live_runs(kinds, entries)]:
            with kind() as source, tempfile.TemporaryDirectory(prefix="roma-bench-") as folder:
                written = fill(source, live.Ticks())
                setup = RunSetup(
                    source,
                    kafka,
                    zookeeper,
                    Path(folder),
                    str(label),
                    live.Ticks.tables,
                    written,
                    live=True,
                )
                _measure_live(name, setup, load, *((found, failures) if label else ([], [])))
    return live_report(found, [*live_notes(load), *failures]), versions, failures


def _live_runs(
    kinds: Sequence[type[SqlServer]], entries: Sequence[str]
) -> Iterator[tuple[int, type[SqlServer], str]]:
    """Yield every entry on every server, each with its own number, from 1."""
    for number, kind in enumerate(kinds):
        for offset, name in enumerate(entries, 1 + 10 * number):
            yield offset, kind, name


def _scaling(arguments: argparse.Namespace, here: Setting) -> int:
    """Measure all series. Show and write each result as soon as it is measured."""
    kind = _SERVERS[arguments.server]
    here = replace(
        here, versions={kind.name: _version(kind), "Kafka": Kafka.fetch().removeprefix("kafka-")}
    )
    rounds, failed = 1 if arguments.quick else arguments.rounds, False
    for measured in scaling.scale(
        kind, arguments.only or scaling.SERIES_NAMES, rounds, small=arguments.quick
    ):
        failed = failed or bool(measured.failures)
        if measured.runs:
            name = f"scaling-{measured.series.name}"
            _show(scaling.page(measured, f"{name}.svg"), arguments, name, here)
            if arguments.into:
                (arguments.into / f"{name}.svg").write_bytes(scaling.svg(measured))
    return 1 if failed else 0


def _measure_live(
    name: str, setup: RunSetup, load: live.Load, found: list[LiveRun], failures: list[str]
) -> None:
    with closing(ENTRIES[name](setup)) as contestant:
        try:
            run = live.measure(contestant, name, setup, load)
        except (BenchFailed, EmbeddedError) as failure:
            say(f"{setup.source.name}, {name}: FAILED. {failure}")
            failures.append(not_measured(f"{setup.source.name}, {name}", failure))
        else:
            found.append(run)
            say(
                f"{run.server}, {name}: p50 {run.p50_ms:.1f} ms, p99 {run.p99_ms:.1f} ms, idle "
                f"{run.idle_percent:.1f} %"
            )


def _available(
    arguments: argparse.Namespace, names: Sequence[str]
) -> tuple[list[type[SqlServer]], list[str], dict[str, str]]:
    """Return the servers and entries of the command line that this machine has, and their versions.

    An error is raised for a missing one that the command line names.
    """
    versions: dict[str, str] = {}
    kinds: list[type[SqlServer]] = []
    for kind in (_SERVERS[name] for name in arguments.server or _SERVERS):
        try:
            versions[kind.name] = _version(kind)
            kinds.append(kind)
        except EmbeddedError as refusal:
            if arguments.server:
                raise
            say(f"{kind.name} is left out: {refusal}")
    versions["Kafka"] = Kafka.fetch().removeprefix("kafka-")
    entries = [name for name in names if name in (arguments.only or names)]
    for name, peer in _PEERS.items():
        if name in entries:
            try:
                versions[name] = peer.fetch()
            except EmbeddedError as refusal:
                if arguments.only:
                    raise
                entries.remove(name)
                say(f"{name} is left out: {refusal}")
    return kinds, entries, versions


def _version(kind: type[SqlServer]) -> str:
    return kind.fetch().removeprefix("mariadb-").removeprefix("mysql-")


if __name__ == "__main__":
    sys.exit(main())

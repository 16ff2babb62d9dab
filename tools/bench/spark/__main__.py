"""`python -m tools.bench.spark hbase | delta | growth | tables`: see `--help`, and `make
bench-spark`.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console

from deploy.embedded import EmbeddedError, HBase, Kafka
from deploy.embedded.fetching.progress import say
from spark_jobs.hbase.guards import GUARDS
from tools.bench.measuring.machine import Setting, setting
from tools.bench.measuring.report import Report
from tools.bench.spark import delta, hbase, tables
from tools.bench.spark.run import SparkRun, spark_report

_WIDTH: Final = 200
_PARTS: Final = ("hbase", "delta", "growth", "tables")


class Workload(NamedTuple):
    """The number of messages in the topic (`messages`) and in a batch, and the number of batches of
    a job's warm-up.
    """

    messages: int
    batch: int
    warm: int


# Partitions share a batch unevenly: one of just an eighth of the messages would leave a few of them
# to a ninth.
_WORKLOADS: Final = {
    "hbase": Workload(2_400_000, 400_100, 3),
    "delta": Workload(3_200_000, 400_100, 3),
}


def main() -> int:
    """Run the command line; the result is the exit code: 1 when a copy was not equal."""
    arguments = _parser().parse_args()
    here = setting(())
    here = replace(
        here, command=f"python -m tools.bench.spark {' '.join(sys.argv[1:])}", versions=_versions()
    )
    exact = True
    try:
        for part in arguments.part or _PARTS:
            report, equal = _measured(part, arguments)
            exact = exact and equal
            _show(report, f"spark-{part}", here, arguments.into)
    except EmbeddedError as failure:
        say(str(failure))
        return 1
    return 0 if exact else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.spark", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*_PARTS, []], help="default: all")
    _load_options(parser)
    _delta_options(parser)
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="write the tables into this folder, as Markdown and JSON",
    )
    return parser


def _load_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--messages", type=int, help=f"messages of the topic; default: {_each('messages')}"
    )
    parser.add_argument(
        "--batch", type=int, help=f"messages of one batch; default: {_each('batch')}"
    )
    parser.add_argument(
        "--warm", type=int, help=f"batches of a job's warm-up; default: {_each('warm')}"
    )
    parser.add_argument(
        "--classic",
        type=int,
        default=20_000,
        help="messages that the classic loop processes; 0: none",
    )
    parser.add_argument(
        "--guard", action="append", choices=sorted(GUARDS), help="only this guard; may be repeated"
    )
    parser.add_argument(
        "--client", action="append", choices=hbase.CLIENTS, help="only this client; may be repeated"
    )


def _delta_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes",
        type=_numbers,
        default=(1_000_000, 10_000_000),
        help="rows of the tables that batches are merged into",
    )
    parser.add_argument(
        "--changes",
        type=_numbers,
        default=(25_000, 50_000, 100_000),
        help="changes of these batches",
    )
    parser.add_argument(
        "--vectors",
        type=lambda text: (text == "yes",),
        default=(True, False),
        help="with deletion vectors (yes) or without (no); default: both",
    )
    parser.add_argument("--tables", type=int, default=200, help="tables of one batch")
    parser.add_argument(
        "--threads",
        type=_numbers,
        default=(1, 2, 4, 8),
        help="number of tables that are merged at the same time",
    )


def _each(what: str) -> str:
    return ", ".join(f"{getattr(workload, what)} ({part})" for part, workload in _WORKLOADS.items())


def _workload(part: str, arguments: argparse.Namespace) -> Workload:
    given = {
        name: number
        for name in Workload._fields
        if (number := getattr(arguments, name)) is not None
    }
    return _WORKLOADS[part]._replace(**given)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _measured(part: str, arguments: argparse.Namespace) -> tuple[Report, bool]:
    match part:
        case "hbase":
            return _hbase_measured(_workload(part, arguments), arguments)
        case "delta":
            load = _workload(part, arguments)
            found = _told(delta.measure_rate(*load, arguments.vectors))
            return spark_report("Messages from a topic into Delta", found, _notes(load)), _equal(
                found
            )
        case "tables":
            return tables.tables_report(
                arguments.tables, list(tables.measure_tables(arguments.tables, arguments.threads))
            ), True
        case _:
            return delta.growth_report(list(_growth_costs(arguments))), True


def _hbase_measured(load: Workload, arguments: argparse.Namespace) -> tuple[Report, bool]:
    guards = arguments.guard or sorted(GUARDS, reverse=True)
    clients = arguments.client or hbase.CLIENTS
    found = _told(hbase.measure(*load, arguments.classic, guards, clients))
    notes = [*_notes(load), _classic_note(arguments.classic)]
    report = spark_report("Messages from a topic into HBase", found, notes, hbase.CLASSIC)
    return report, _equal(found)


def _growth_costs(arguments: argparse.Namespace) -> Iterator[delta.BatchCost]:
    for cost in delta.measure_growth(arguments.sizes, arguments.changes, arguments.vectors):
        say(
            f"{cost.changes:,} changes of keys {cost.keys} into {cost.rows:,} rows, "
            f"deletion vectors {cost.vectors}: {cost.seconds:.2f} s"
        )
        yield cost


def _told(runs: Iterable[SparkRun]) -> list[SparkRun]:
    found = []
    for run in runs:
        took = [f"{each.messages:,} in {each.seconds:.1f} s" for each in run.batches]
        say(
            f"{run.what}: {run.whole_per_second:,.0f} messages/s, warm "
            f"{run.warm_per_second:,.0f}; {'; '.join(took)}"
        )
        found.append(run)
    return found


def _equal(runs: Sequence[SparkRun]) -> bool:
    return all(run.exact is not False for run in runs)


def _notes(load: Workload) -> list[str]:
    return [
        (
            "Table of six columns. Of ten messages six are inserts, two updates, one repeats an "
            "earlier message, one is late."
        ),
        (
            f"Messages/s of a job: the messages of all batches ({load.batch:,} each), divided by "
            f"the time from trigger to commit, which includes reading."
        ),
        (
            f"warm: without the first {load.warm} batches. CPU and memory are of the whole job "
            f"with its children."
        ),
        (
            "equal: the copy has every key with its newest change. This compares the number of "
            "keys, the sum of orders and the sum of a column."
        ),
    ]


def _classic_note(messages: int) -> str:
    return (
        f"The classic loop reads {messages:,} of the same messages from memory, after a quarter "
        "as many that do not count. A job is compared with the loop through the same client. "
        "Rows/s into the copy are those of the sink's calls alone, with rows that are already "
        "parsed and reduced in memory."
    )


def _versions() -> dict[str, str]:
    return {
        "Kafka": Kafka.fetch().removeprefix("kafka-"),
        "HBase": HBase.fetch().removeprefix("hbase-"),
        "Spark": "4.0.0",
        "Delta": "4.0.0",
    }


def _show(report: Report, name: str, here: Setting, into: Path | None) -> None:
    Console(width=_WIDTH).print(report.table())
    for line in report.notes:
        say(line)
    if into:
        report.write(into, name, here)


if __name__ == "__main__":
    sys.exit(main())

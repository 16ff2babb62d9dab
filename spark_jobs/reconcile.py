"""Prove that the copies equal the sources, or list the differences: `python -m
spark_jobs.reconcile --config job.toml`.
"""

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from time import monotonic

from pyspark.sql import SparkSession
from rich.console import Console

from relay.model.change import Operation
from spark_jobs.apply.table_writer import TableWriter
from spark_jobs.comparison import (
    WHOLE_LINES,
    DecidedRows,
    Outcome,
    Repair,
    Seen,
    TableComparison,
    TableFindings,
    TargetRow,
    compare_until_decided,
    exit_code,
    findings_json,
    findings_table,
    newest_waiting,
    why_unrepaired,
)
from spark_jobs.config.job import JobSettings, load_settings
from spark_jobs.errors import JobError
from spark_jobs.first_copy import check_definition
from spark_jobs.kafka.catching_up import await_published, await_shown
from spark_jobs.kafka.relay_positions import (
    Published,
    check_identity,
    check_rules,
    check_together,
    read_published,
)
from spark_jobs.kafka.source import place_of
from spark_jobs.origin import coordinates_now, estimated_rows, source_borders
from spark_jobs.origin.shards import LogicalTable, Sources, open_sources
from spark_jobs.runtime.copy_arguments import CopyArguments, copy_arguments
from spark_jobs.runtime.spark_session import open_spark
from spark_jobs.sinks import check_rule, check_writers, open_sink
from spark_jobs.spark_util.error_translation import named_errors
from spark_jobs.spark_util.progress import Piece, Progress
from spark_jobs.spark_util.report import print_error, results


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Compares all tables of a configuration once."""

    spark: SparkSession
    settings: JobSettings
    sources: Sources

    def run(self, *, repair: bool) -> Sequence[TableFindings]:
        """Compare every table, and return the findings. With `repair`, differing rows are repaired.

        If a table cannot be compared, its findings contain the reason. Raises RulesDiffer if the
        rules of `sources` are not those by which the relay publishes, and other JobErrors.
        """
        if repair:
            check_writers(self.spark, self.settings)
            check_rule(self.spark, self.settings)
        tables = self.sources.tables
        instances = {instance for table in tables for instance in table.instances}
        for instance, each in read_published(
            self.spark, self.settings.kafka, self.settings.installation, instances
        ).items():
            check_rules(self.sources.databases[instance].settings, each)
        with Progress() as shown:
            return [
                self._table(table, f" ({number} of {len(tables)})", shown, repair=repair)
                for number, table in enumerate(tables, 1)
            ]

    def _table(
        self, table: LogicalTable, place: str, shown: Progress, *, repair: bool
    ) -> TableFindings:
        if table.without_key:
            names = ", ".join(table.without_key)
            return TableFindings(table.name, reason=f"add a primary key to {names}: it has none")
        if left_out := table.leaves_out(*Operation):
            what = f"an instance does not publish every {' or '.join(left_out)}"
            return TableFindings(table.name, reason=f"{what}, so the copy has other rows")
        if table.transformed:
            return TableFindings(
                table.name,
                reason="transforms of an instance change its rows, and a SELECT does not",
            )
        sink, settings = open_sink(self.spark, self.settings), self.settings
        newest = None if settings.raw_rule else self._newest
        databases, policy = self.sources.databases, settings.schema_changes
        comparison = TableComparison(
            self.spark, databases, sink, settings.reconcile, self._decide, policy, newest
        )
        total = estimated_rows(databases, table.shards)
        with shown.piece(
            Piece(f"{table.name}{place}", total, step="summing up the source", estimated=True)
        ) as piece:
            found = comparison.compare(table, piece)
            if not (repair and found.different):
                return found
            piece.next_step("repairing", len(found.different))
            return self._repaired(comparison, table, found)

    def _decide(
        self,
        table: LogicalTable,
        places: Sequence[TargetRow],
        compare_again: Callable[[Sequence[TargetRow]], Mapping[str, Seen]],
    ) -> DecidedRows:
        pause = Event()
        return compare_until_decided(
            places,
            compare_again,
            lambda seconds: self._caught_up(table, seconds),
            lambda keys: newest_waiting(
                self.spark,
                self.settings,
                keys,
                open_sink(self.spark, self.settings).read(table.name),
            ),
            self.settings.reconcile.patience_seconds,
            pause.wait,
        )

    def _caught_up(self, table: LogicalTable, seconds: float) -> bool:
        """Wait until the instances have published all that their sources have committed now, and
        SELECTs see all that is published.
        """
        databases = {instance: self.sources.databases[instance] for instance in table.instances}
        places = {
            instance: place
            for instance, database in databases.items()
            if (place := coordinates_now(database)) is not None
        }
        if len(places) < len(databases):
            return False
        ends = monotonic() + seconds
        published = await_published(
            databases, places, lambda: self._published(table), seconds, Event().wait
        )
        return published is not None and await_shown(
            databases, published, max(0.0, ends - monotonic()), Event().wait
        )

    def _repaired(
        self, comparison: TableComparison, table: LogicalTable, found: TableFindings
    ) -> TableFindings:
        """Write the differing rows again under new order keys, and return which of them are
        equal now.
        """
        published = self._published(table)
        pairs = {instance: each.order for instance, each in published.items()}
        Event().wait(self.settings.bootstrap.settle_seconds)
        databases = {instance: self.sources.databases[instance] for instance in published}
        if not await_shown(
            databases, published, self.settings.reconcile.patience_seconds, Event().wait
        ):
            return found  # rows that are read now may be older than the order that they would carry
        places = [TargetRow(each.key, each.place) for each in found.different]
        writer = TableWriter.of(self.spark, self.settings, comparison.sink, "repair")
        Repair(self.sources.databases, comparison.sink, writer).write(table, places, pairs)
        if self.settings.follows_renames:
            # The names of a row are those of its order only where no rename came between.
            check_definition(databases, table)
            writer.check_names(table, pairs)
        decided = self._decide(table, places, lambda some: comparison.compare_again(table, some))
        left = {each.key for each in (*decided.different, *decided.undecided)}
        repaired = [each for each in found.different if each.key not in left]
        different = [
            replace(each, reason=why_unrepaired(each, pairs)) for each in decided.different
        ]
        return replace(
            found,
            different=different,
            undecided=[*found.undecided, *decided.undecided],
            repaired=repaired,
        )

    def _newest(self, table: LogicalTable) -> str:
        """Return the greatest order that the instances of the table have published."""
        return max(each.order for each in self._published(table).values())

    def _published(self, table: LogicalTable) -> Mapping[str, Published]:
        published = read_published(
            self.spark, self.settings.kafka, self.settings.installation, table.instances
        )
        check_together(self.settings.sources, published)
        for instance, each in published.items():
            check_identity(self.sources.databases[instance], each)
        return published


def run(
    settings: JobSettings, *, tables: Sequence[str] = (), repair: bool = False, trace: bool = False
) -> Sequence[TableFindings]:
    """Compare source and copy, and return the findings for each table.

    tables  names of logical tables; empty: all
    repair  whether differing rows are repaired
    trace   show Spark's log of errors

    Raises JobError.
    """
    with named_errors(place_of(settings.kafka)), source_borders(*settings.sources):
        spark = open_spark(settings, "roma-reconcile", trace=trace)
        return Reconciliation(spark, settings, open_sources(spark, settings, tables)).run(
            repair=repair
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 0 if all tables are equal, 1 if a table differs.

    Otherwise returns 2: not all tables could be compared, or an error ended the job.
    """
    given = copy_arguments("reconcile", __doc__, arguments)
    try:
        findings = _findings(given)
    except JobError as exc:
        print_error(exc, trace=given.trace)
        return int(Outcome.UNKNOWN)
    except Exception:  # noqa: BLE001 - Python would end with code 1, which says that rows differ
        traceback.print_exc()
        return int(Outcome.UNKNOWN)
    return exit_code(findings)


def _findings(given: CopyArguments) -> Sequence[TableFindings]:
    """Compare and print the findings. Raises JobError."""
    with results(as_json=given.as_json) as say:
        settings = load_settings(given.config)
        findings = run(settings, tables=given.tables, repair=given.repair, trace=given.trace)
        if given.as_json:
            say(findings_json(findings))
        else:
            Console(width=WHOLE_LINES, soft_wrap=True).print(findings_table(findings))
    return findings


if __name__ == "__main__":
    sys.exit(main())

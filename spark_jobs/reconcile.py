"""Prove that the copies equal the sources, or list what differs: `python -m spark_jobs.reconcile --config job.toml`."""

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event
from time import monotonic
from typing import Final

from pyspark.sql import SparkSession
from rich.console import Console

from relay.model.change import Operation
from spark_jobs.border import named_errors
from spark_jobs.comparison import (
    Outcome,
    Place,
    Repair,
    Seen,
    Settled,
    TableComparison,
    TableFindings,
    exit_code,
    findings_json,
    findings_table,
    newest_waiting,
    settle,
)
from spark_jobs.copy_arguments import copy_arguments
from spark_jobs.errors import JobError
from spark_jobs.kafka_source import place_of
from spark_jobs.positions import Published, check_identity, check_rules, check_together, read_published
from spark_jobs.report import print_error
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings, load_settings
from spark_jobs.sinks import check_rule, check_writers, open_sink
from spark_jobs.source import place_now, source_borders
from spark_jobs.sources import LogicalTable, Sources, open_sources
from spark_jobs.table_writes import TableWriter

_LOOK_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """One run over the tables of a configuration."""

    spark: SparkSession
    settings: JobSettings
    sources: Sources

    def run(self, *, repair: bool) -> Sequence[TableFindings]:
        """Compare every table; those that cannot be compared say why. Raises RulesDiffer."""
        if repair:
            check_writers(self.spark, self.settings)
            check_rule(self.spark, self.settings)
        instances = {instance for table in self.sources.tables for instance in table.instances}
        for instance, each in read_published(self.spark, self.settings.kafka, self.settings.installation, instances).items():
            check_rules(self.sources.databases[instance].settings, each)
        return [self._table(table, repair=repair) for table in self.sources.tables]

    def _table(self, table: LogicalTable, *, repair: bool) -> TableFindings:
        if table.without_key:
            return TableFindings(table.name, reason=f"no key names the rows of {', '.join(table.without_key)}")
        if left_out := table.leaves_out(*Operation):
            return TableFindings(table.name, reason=f"not every {' or '.join(left_out)} is published, so the copy is another one")
        if table.transformed:
            return TableFindings(table.name, reason="a transform makes its rows, and no SELECT goes through it")
        sink, settings = open_sink(self.spark, self.settings), self.settings
        comparison = TableComparison(self.spark, self.sources.databases, sink, settings.reconcile, self._settle, settings.schema_changes)
        found = comparison.compare(table)
        return self._repaired(comparison, table, found) if repair and found.different else found

    def _settle(self, table: LogicalTable, places: Sequence[Place], look: Callable[[Sequence[Place]], Mapping[str, Seen]]) -> Settled:
        pause = Event()
        return settle(
            places,
            look,
            lambda seconds: self._caught_up(table, seconds),
            lambda keys: newest_waiting(self.spark, self.settings, keys),
            self.settings.reconcile.patience_seconds,
            pause.wait,
        )

    def _caught_up(self, table: LogicalTable, seconds: float) -> bool:
        """Wait until the instances have published all that their sources have committed now."""
        databases = {instance: self.sources.databases[instance] for instance in table.instances}
        places = {instance: place_now(database) for instance, database in databases.items()}
        if any(place is None for place in places.values()):
            return False
        ends, pause = monotonic() + seconds, Event()
        while True:
            published = self._published(table)
            if all(place is not None and published[name].covers(databases[name], place) for name, place in places.items()):
                return True
            if monotonic() >= ends:
                return False
            pause.wait(_LOOK_S)

    def _repaired(self, comparison: TableComparison, table: LogicalTable, found: TableFindings) -> TableFindings:
        """Write the differing rows anew under fresh pairs, and say which of them are equal now."""
        pairs = {instance: published.order for instance, published in self._published(table).items()}
        Event().wait(self.settings.bootstrap.settle_seconds)
        places = [Place(each.key, each.place) for each in found.different]
        writer = TableWriter.of(self.settings, comparison.sink, "repair")
        Repair(self.sources.databases, comparison.sink, writer).write(table, places, pairs)
        settled = self._settle(table, places, lambda some: comparison.look(table, some))
        left = {each.key for each in (*settled.different, *settled.undecided)}
        repaired = [each for each in found.different if each.key not in left]
        return replace(found, different=settled.different, undecided=[*found.undecided, *settled.undecided], repaired=repaired)

    def _published(self, table: LogicalTable) -> Mapping[str, Published]:
        published = read_published(self.spark, self.settings.kafka, self.settings.installation, table.instances)
        check_together(self.settings.sources, published)
        for instance, each in published.items():
            check_identity(self.sources.databases[instance], each)
        return published


def run(settings: JobSettings, *, tables: Sequence[str] = (), repair: bool = False, trace: bool = False) -> Sequence[TableFindings]:
    """Compare the tables, all or those named, and repair what differs where that is asked for. Raises JobError."""
    with named_errors(place_of(settings.kafka)), source_borders(*settings.sources):
        spark = open_session(settings, "roma-reconcile", trace=trace)
        return Reconciliation(spark, settings, open_sources(spark, settings, tables)).run(repair=repair)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Exit code 0: equal, 1: different, 2: it could not be told, with a sentence."""
    given = copy_arguments("reconcile", __doc__, arguments)
    try:
        findings = run(load_settings(given.config), tables=given.tables, repair=given.repair, trace=given.trace)
    except JobError as exc:
        print_error(exc, trace=given.trace)
        return int(Outcome.UNKNOWN)
    except Exception:  # noqa: BLE001 - Python would end with code 1, which says that rows differ
        traceback.print_exc()
        return int(Outcome.UNKNOWN)
    if given.as_json:
        sys.stdout.write(f"{findings_json(findings)}\n")
    else:
        Console(soft_wrap=True).print(findings_table(findings))
    return exit_code(findings)


if __name__ == "__main__":
    sys.exit(main())

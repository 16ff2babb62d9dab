"""Reads the published positions of the instances whose tables a first copy reads."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import RelayBehind
from spark_jobs.first_copy.shape import check_definition
from spark_jobs.kafka.catching_up import await_published
from spark_jobs.kafka.relay_positions import (
    Published,
    check_identity,
    check_rules,
    check_together,
    read_published,
)
from spark_jobs.origin import coordinates_now
from spark_jobs.origin.shards import LogicalTable, Sources
from spark_jobs.spark_util.report import print_line

_UNSEEN_LAG: Final = (
    "its source does not show its binlog position to the user (it needs GTIDs, or BACKUP_ADMIN "
    "on MySQL 8), so this job cannot check whether the relay must still read a schema change. "
    "Run `roma reconcile` after the copy"
)


class RunPositions:
    """Reads the positions of one run's instances, and checks that the sources belong to them."""

    def __init__(self, spark: SparkSession, settings: JobSettings, sources: Sources) -> None:
        self._spark = spark
        self._settings = settings
        self._sources = sources

    def of_tables(self, tables: Sequence[LogicalTable]) -> Mapping[str, Published]:
        """Return the positions of all instances of the tables. Call it before reading anything else
        of them.

        Raises SourcesIncomplete and SourceNotTheOne if the sources are not those of the positions,
        and a JobError if the instance's rules do not allow a copy.
        """
        instances = {instance for table in tables for instance in table.instances}
        published = self._read(instances)
        for instance in instances:
            check_rules(self._sources.databases[instance].settings, published[instance])
        return published

    def of_table(self, table: LogicalTable) -> Mapping[str, Published]:
        """Return the present positions of one table's instances."""
        settings = self._settings
        return read_published(self._spark, settings.kafka, settings.installation, table.instances)

    def fresh(
        self, pause: Callable[[float], bool], instances: Collection[str]
    ) -> Mapping[str, Published] | None:
        """Return positions of the instances that cover all transactions that the sources have
        committed, and all schema changes.

        `pause` waits the given seconds and returns whether the job was asked to stop; the result is
        then None. Raises RelayBehind.
        """
        databases = {instance: self._sources.databases[instance] for instance in instances}
        places = {
            instance: place
            for instance, database in databases.items()
            if (place := coordinates_now(database)) is not None
        }
        for instance in sorted(set(databases) - set(places)):
            print_line(f"{instance}: {_UNSEEN_LAG}")
        seconds = self._settings.bootstrap.patience_seconds
        published = await_published(
            databases, places, lambda: self._read(instances), seconds, pause
        )
        if published is None and not pause(0):
            raise RelayBehind(
                f"Within {seconds:.0f} s the relay has not published everything that "
                f"{', '.join(sorted(databases))} had committed when this job read the table "
                "definitions. It may include a schema change, and changes from before it would "
                "then be applied to copied rows."
            )
        return published

    def check(self, published: Mapping[str, Published], table: LogicalTable) -> None:
        """Raise SourceNotTheOne or TableChanged if the run's positions (`published`) do not apply
        to the rows that were read from the table.
        """
        self._check_servers(table.instances, published)
        check_definition(self._sources.databases, table)

    def _read(self, instances: Collection[str]) -> Mapping[str, Published]:
        settings = self._settings
        published: Mapping[str, Published] = {}
        if instances:
            published = read_published(
                self._spark, settings.kafka, settings.installation, instances
            )
        check_together(settings.sources, published)
        self._check_servers(instances, published)
        return published

    def _check_servers(self, instances: Iterable[str], published: Mapping[str, Published]) -> None:
        for instance in instances:
            check_identity(self._sources.databases[instance], published[instance])

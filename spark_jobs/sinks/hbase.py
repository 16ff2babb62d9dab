"""Copies in HBase, one table per logical table, written by all executors in parallel through
Thrift2.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import InstancesMixed
from spark_jobs.hbase.catalogue import QUALIFIER, Catalogue, Feed, KnownTable
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.hbase.instances import UNNAMED, contradiction, mixed_orders
from spark_jobs.hbase.java_client import JavaClient
from spark_jobs.hbase.java_files import JavaFiles
from spark_jobs.hbase.names import hbase_name
from spark_jobs.hbase.tables import Tables
from spark_jobs.hbase.task import Region, forget_deleted, read_changes, regions_of, write_changes
from spark_jobs.sinks.sink import ReducedBatch, TableBatch, Written
from spark_jobs.transforms import Style, TableSchema, column_types, typed_rows

_WRITTEN: Final = ("table", "key", "order", "deleted", "data")
_READ: Final = (
    "key string, order string, execute_time bigint, execute_position bigint, deleted boolean, data "
    "map<string,string>, mysql_types string"
)


class HBaseSink:
    """The copies in HBase: the column family `info` has the columns as text, `update_info` the
    order keys (guards).

    The order key of a deleted row stays. Every write can be repeated. With the guard "version"
    (HBase compares the cells' versions), nothing is read before a write, so all changes count as
    written.
    """

    def __init__(
        self, spark: SparkSession, settings: HBaseSettings, style: Style = "exact"
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._style = style
        self._gateway = Gateway(settings)
        self._tables = Tables(self._gateway, settings)
        self._known: Catalogue | None = None
        self._java = JavaClient(spark, settings) if settings.client == "jvm" else None
        self._files = (
            JavaFiles(spark, settings, settings.files) if settings.files is not None else None
        )

    def write(self, batch: ReducedBatch) -> Mapping[str, Written]:
        """Write all tables in one pass over the batch. Return table → counts.

        Raises InstancesMixed before any row is written.
        """
        if self._settings.refuses_several_instances:
            self._check_orders(batch)
        for each in batch.tables:
            self._catalogue().note(
                each.table,
                [_text(version) for version in each.versions if version.mysql_types],
                each.key_columns,
                self._feed(each),
            )
        names = {each.table: self._tables.ensure(each.table) for each in batch.tables}
        numbers = {each.table: each.number for each in batch.tables}
        written = self._write(
            _spread(batch.changes, self._settings.writers).select(*_WRITTEN), names, numbers
        )
        return {
            table: Written(sum(rows for of_table, rows in written if of_table == table))
            for table in names
        }

    def read(self, table: str) -> DataFrame | None:
        """Return the rows of a table's copy, deleted ones included; None if there is no copy."""
        known = self._catalogue().all().get(table)
        if known is None:
            return None
        settings, name = self._settings, self._name(table)
        regions = self._regions(name)
        stored = self._spark.sparkContext.parallelize(regions, len(regions)).flatMap(
            partial(read_changes, settings, table, name)
        )
        changes = self._spark.createDataFrame(stored, _READ, verifySchema=False)
        versions = _versions(known)
        return typed_rows(changes, versions, column_types(versions), self._style)

    def tables(self) -> Sequence[str]:
        """Return the logical tables that were written."""
        return sorted(self._catalogue().all())

    def forget_deletes(self, before_ms: int, _writer: str, /) -> None:
        """Remove the keys that were deleted with an execute time below `before_ms`, unless another
        writer changes them during the removal.
        """
        for table in self.tables():
            name = self._name(table)
            regions = self._regions(name)
            forget = partial(forget_deleted, self._settings, name, before_ms)
            self._spark.sparkContext.parallelize(regions, len(regions)).map(forget).collect()

    def tidy(self) -> None:
        """Do nothing: HBase compacts its files itself."""
        if self._files is not None:
            self._files.tidy()

    def _check_orders(self, batch: ReducedBatch) -> None:
        """Raise InstancesMixed if orders of unnamed instances contradict each other."""
        unnamed = [each.table for each in batch.tables if UNNAMED in each.instances]
        if not unnamed:
            return
        known = self._catalogue().all()
        newest = {table: known[table].newest if table in known else "" for table in unnamed}
        mixed = mixed_orders(batch.changes, newest)
        if mixed:
            raise InstancesMixed(contradiction(mixed))

    def _feed(self, of_table: TableBatch) -> Feed:
        """Return the instances to record: none where they do not matter."""
        asked = self._settings.refuses_several_instances
        return Feed(of_table.instances if asked else frozenset(), of_table.newest_order)

    def _write(
        self, changes: DataFrame, names: Mapping[str, bytes], numbers: Mapping[str, int | None]
    ) -> Sequence[tuple[str, int]]:
        """Table and rows, call by call, or file by file."""
        large = [] if self._files is None else _large(changes, numbers, self._files.from_rows)
        if self._files is None or not large:
            return self._put(changes, names)
        starts = {table: [start for start, _ in self._regions(names[table])] for table in large}
        in_files = self._files.write(
            changes.where(sf.col("table").isin(large)),
            {table: names[table] for table in large},
            starts,
        )
        if len(large) == len(names):
            return in_files
        return [*in_files, *self._put(changes.where(~sf.col("table").isin(large)), names)]

    def _put(self, changes: DataFrame, names: Mapping[str, bytes]) -> Sequence[tuple[str, int]]:
        if self._java is not None:
            return self._java.write(changes, names)
        written: list[tuple[str, int]] = (
            changes.toJSON()
            .mapPartitionsWithIndex(partial(write_changes, self._settings, names))
            .collect()
        )
        return written

    def _catalogue(self) -> Catalogue:
        if self._known is None:
            self._known = Catalogue(
                self._gateway, self._tables.ensure_named(QUALIFIER, []), self._settings.salt_buckets
            )
        return self._known

    def _name(self, table: str) -> bytes:
        return hbase_name(table, self._settings.namespace).encode()

    def _regions(self, name: bytes) -> list[Region]:
        return regions_of(self._gateway.ask("getAllRegionLocations", table=name))


def _spread(changes: DataFrame, writers: int) -> DataFrame:
    """Return the changes in at least `writers` partitions, so that all executors write.

    Changes with enough partitions are not moved.
    """
    return (
        changes
        if changes.rdd.getNumPartitions() >= writers
        else changes.repartition(writers, "key")
    )


def _large(changes: DataFrame, numbers: Mapping[str, int | None], from_rows: int) -> list[str]:
    """Tables with so many rows.

    Counted are those alone that may have them: the numbers are those of before the rule.
    """
    asked = [table for table, number in numbers.items() if number is None or number >= from_rows]
    if not asked:
        return []
    counted = changes.where(sf.col("table").isin(asked)).groupBy("table").count()
    return [row["table"] for row in counted.where(sf.col("count") >= from_rows).collect()]


def _text(version: TableSchema) -> str:
    """Return the text as in a message; a message without types has only names."""
    return version.text or json.dumps(dict(version.mysql_types))


def _versions(known: KnownTable) -> list[TableSchema]:
    return [TableSchema.of(text) for text in known.versions]

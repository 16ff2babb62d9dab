"""Rows and deletes of one logical table, from its sources instead of its topic, through the same rule into the copy."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.cache import cached
from spark_jobs.errors import JobConfigurationError
from spark_jobs.reduction import TableContents, reduced_batch
from spark_jobs.settings import JobSettings
from spark_jobs.sinks import Sink
from spark_jobs.sources import LogicalTable
from spark_jobs.transforms import TableSchema, with_pair


def upserts(rows: DataFrame, order: str) -> DataFrame:
    """Rows of a source (`table, key, data, mysql_types`) as changes with this order."""
    return _ordered(rows.withColumn("order", sf.lit(order)).withColumn("deleted", sf.lit(False)))


def deletes(keys: DataFrame, table: LogicalTable) -> DataFrame:
    """Keys (`key, order`) as deletes of a logical table; their data are the values that the key itself tells.

    A key of before the table got another primary key may have more values or fewer, and tells none.
    """
    shard = table.shards[0]
    values = sf.from_json(sf.col("key"), "array<string>")
    own = sf.slice(values, 3 if shard.shard_in_key else 2, len(shard.key_names))
    whole = sf.size(values) == (2 if shard.shard_in_key else 1) + len(shard.key_names)
    data = sf.when(whole, sf.map_from_arrays(sf.array(*map(sf.lit, shard.key_names)), own))
    named = keys.withColumn("table", sf.lit(table.name)).withColumn("data", data).withColumn("mysql_types", sf.lit(shard.mysql_types))
    return _ordered(named.withColumn("deleted", sf.lit(True)))


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Hands changes of whole rows to the copies. `in_parts`: the copies keep an order for each column (`row_images = "merge"`)."""

    sink: Sink
    writer: str
    in_parts: bool = False

    @classmethod
    def of(cls, settings: JobSettings, sink: Sink, writer: str) -> "TableWriter":
        """Make one for a configuration. Raises JobConfigurationError where its copies are not ordered by the pair."""
        if settings.raw_rule:
            raise JobConfigurationError("raw_rule = true: such copies are ordered by binlog offsets, which a SELECT does not tell.")
        return cls(sink, writer, in_parts=settings.row_images == "merge")

    def write(self, table: LogicalTable, changes: DataFrame) -> int:
        """Write changes of one logical table, read once; the copy takes those that are not older than what it has. Returns their number."""
        single = changes if len(table.shards) == 1 else changes.dropDuplicates(["key"])
        with cached(_in_parts(single) if self.in_parts else single) as held:
            rows, newest = held.agg(sf.count("*"), sf.max("order")).collect()[0]
            if rows:
                contents = TableContents(schema_versions(table), table.shards[0].key_names, newest, rows)
                self.sink.write(reduced_batch(held, {table.name: contents}, self.writer, None))
        return int(rows)


def schema_versions(table: LogicalTable) -> Sequence[TableSchema]:
    """What the messages of the table's shards would say of their columns, each version once."""
    return [TableSchema.of(text) for text in dict.fromkeys(shard.mysql_types for shard in table.shards)]


def _ordered(changes: DataFrame) -> DataFrame:
    return with_pair(changes).select("table", "key", "order", "execute_time", "execute_position", "deleted", "data", "mysql_types")


def _in_parts(changes: DataFrame) -> DataFrame:
    """A whole row begins anew: every column has its order, and none of an older change counts."""
    orders = sf.transform_values("data", lambda _, _value: sf.col("order"))
    return changes.withColumns({"reset_order": sf.col("order"), "column_orders": sf.transform_keys(orders, lambda name, _: sf.lower(name))})

"""Writes rows and deletes that were read from the sources into the copy of one logical table.

The copy compares their order keys with those of its own rows, as it does for changes from the
topic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.apply.per_table import REDUCED, TableContents, reduced_batch
from spark_jobs.apply.renames.store import RenameStore, by_place
from spark_jobs.apply.truncates.copy_rows import empty_copies
from spark_jobs.apply.truncates.floors import Floors, FloorStore
from spark_jobs.apply.truncates.truncated_changes import emptied_changes
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import JobConfigurationError, TableChanged
from spark_jobs.origin import Shard
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.sinks import Sink
from spark_jobs.spark_util.cache import cached
from spark_jobs.transforms import TableSchema, with_pair


def upserts(rows: DataFrame, order: str, shard: Shard) -> DataFrame:
    """Return rows of a shard as changes with the order key `order`.

    rows   the rows, with the columns table, key (message key), data and mysql_types
    order  text of the order key
    shard  the real table from which they were read
    """
    told = {"order": sf.lit(order), "deleted": sf.lit(False), "real_table": sf.lit(shard.name)}
    return _ordered(rows.withColumns(told))


def deletes(keys: DataFrame, table: LogicalTable) -> DataFrame:
    """Return changes that delete the given keys of a logical table.

    `keys` has the columns key (message key) and order (text of the order key). The data of a delete
    are the key values in the message key. If the primary key has changed, the message key may have
    another number of values than the table's key now; then the data are empty.
    """
    shard = table.shards[0]
    values = sf.from_json(sf.col("key"), "array<string>")
    own = sf.slice(values, 3 if shard.shard_in_key else 2, len(shard.key_names))
    whole = sf.size(values) == (2 if shard.shard_in_key else 1) + len(shard.key_names)
    data = sf.when(whole, sf.map_from_arrays(sf.array(*map(sf.lit, shard.key_names)), own))
    named = (
        keys.withColumn("table", sf.lit(table.name))
        .withColumn("data", data)
        .withColumn("mysql_types", sf.lit(shard.mysql_types))
    )
    return _ordered(
        named.withColumns({"deleted": sf.lit(True), "real_table": sf.lit(None).cast("string")})
    )


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes changes of whole rows to the copies.

    sink      the store of the copies
    writer    name of the job
    in_parts  True: the copies keep an order key for each column (`row_images = "merge"`)
    floors    the TRUNCATEs that the stream has applied to the copies (`truncate = "follow"`); None:
              the stream applies none
    renames   the renames of columns that the stream has applied; None: the stream applies none
    """

    sink: Sink
    writer: str
    in_parts: bool = False
    floors: FloorStore | None = None
    renames: RenameStore | None = None

    @classmethod
    def of(
        cls, spark: SparkSession, settings: JobSettings, sink: Sink, writer: str
    ) -> "TableWriter":
        """Return the writer for the copies of a configuration.

        settings  the settings of the job
        sink      the store of the copies
        writer    name of the job

        Raises JobConfigurationError if the copies are not ordered by the order key.
        """
        if settings.raw_rule:
            raise JobConfigurationError(
                "raw_rule = true: such copies are ordered by binlog offsets, which a SELECT does "
                "not return."
            )
        floors = FloorStore(spark, settings.copy_root) if settings.truncate == "follow" else None
        renames = RenameStore(spark, settings.copy_root) if settings.follows_renames else None
        in_parts = settings.row_images == "merge"
        return cls(sink, writer, in_parts=in_parts, floors=floors, renames=renames)

    def is_renamed(self, table: LogicalTable, orders: Mapping[str, str]) -> bool:
        """Return whether the stream has applied a rename of the table's columns that is newer than
        `orders`.

        `orders` maps each instance to the text of its order key. If True, rows must not be written
        under these order keys: a SELECT returns the present names, so it is unknown which names
        belong to an order key from before the rename.
        """
        if self.renames is None:
            return False
        kept = by_place(self.renames.read())
        return any(
            kept[place][-1].order > orders[shard.instance]
            for shard in table.shards
            if (place := (table.name, shard.name)) in kept
        )

    def check_names(self, table: LogicalTable, orders: Mapping[str, str]) -> None:
        """Check after a write that no column was renamed during it.

        `orders` maps each instance to the order key under which its rows were written. Raises
        TableChanged if the rows may have names from before a rename that the stream has applied.
        """
        if self.is_renamed(table, orders):
            raise TableChanged(
                f"{table.name}: its columns were renamed after its order key was read."
            )

    def write(self, table: LogicalTable, changes: DataFrame) -> int:
        """Write changes of one logical table, at most one for each key; return how many were passed
        to the sink.

        The copy applies a change if its order key is not smaller than that of the copy's row.
        During the write, the stream may apply a TRUNCATE that removes some of these rows. The
        stored TRUNCATEs are therefore read again afterwards, and applied to the written rows.
        """
        if self.floors is None:
            return self._write(table, changes.drop("real_table"))
        before = _of_table(self.floors.read(), table)
        rows = self._write(table, emptied_changes(changes, before))
        if (after := _of_table(self.floors.read(), table)) != before:
            empty_copies(self.sink, after, f"{self.writer} truncate")
        return rows

    def _write(self, table: LogicalTable, changes: DataFrame) -> int:
        single = changes if len(table.shards) == 1 else changes.dropDuplicates(["key"])
        with cached(_in_parts(single) if self.in_parts else single) as held:
            rows, newest = held.agg(sf.count("*"), sf.max("order")).collect()[0]
            if rows:
                contents = TableContents(
                    schema_versions(table),
                    table.shards[0].key_names,
                    newest,
                    rows,
                    frozenset(shard.instance for shard in table.shards),
                )
                self.sink.write(reduced_batch(held, {table.name: contents}, self.writer, None))
        return int(rows)


def schema_versions(table: LogicalTable) -> Sequence[TableSchema]:
    """Return the different table definitions that messages of the table's shards have."""
    return [
        TableSchema.of(text) for text in dict.fromkeys(shard.mysql_types for shard in table.shards)
    ]


def _ordered(changes: DataFrame) -> DataFrame:
    pair = with_pair(changes)
    return pair.select(*REDUCED, "real_table")


def _of_table(floors: Floors, table: LogicalTable) -> Floors:
    return {place: order for place, order in floors.items() if place[0] == table.name}


def _in_parts(changes: DataFrame) -> DataFrame:
    """Set the column orders of a whole row: every column has its order, and older changes have
    no effect.
    """
    orders = sf.transform_values("data", lambda _, _value: sf.col("order"))
    return changes.withColumns(
        {
            "reset_order": sf.col("order"),
            "column_orders": sf.transform_keys(orders, lambda name, _: sf.lower(name)),
        }
    )

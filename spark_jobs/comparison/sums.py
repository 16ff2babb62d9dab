"""Computes the row count and checksum of every bucket on both sides, and finds the rows of
differing buckets.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, Row
from pyspark.sql.types import DataType

from spark_jobs.comparison.buckets import Buckets
from spark_jobs.comparison.canonical import (
    copy_hash,
    copy_row_text,
    copy_sum,
    source_hash,
    source_row_text,
    source_sum,
)
from spark_jobs.comparison.keys import copy_key, source_key
from spark_jobs.origin import KeyRange, Shard, SourceDatabase, message_keys
from spark_jobs.origin.key_ranges import table_of
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.transforms.guards import DELETED, KEY


@dataclass(frozen=True, slots=True)
class BucketSum:
    """What the two sides compare for a bucket.

    rows      number of its rows
    checksum  sum of the hashes of these rows
    """

    rows: int = 0
    checksum: int = 0

    def __add__(self, other: "BucketSum") -> "BucketSum":
        return BucketSum(self.rows + other.rows, self.checksum + other.checksum)


def source_sums(
    database: SourceDatabase, table: LogicalTable, shard: Shard, part: KeyRange, buckets: Buckets
) -> DataFrame:
    """Return the row counts and checksums of the buckets in a key range, as the source server
    computes them.

    database  the source
    table     the logical table, whose columns are summed
    shard     the real table that is read
    part      the key range
    buckets   assigns rows to buckets

    Columns: bucket, n (number of rows), s (sum of hashes as decimal text).
    """
    row = source_hash(source_row_text(table.columns, shard.by_name))
    grouped = (
        f"SELECT {buckets.source(shard)} AS bucket, COUNT(*) AS n, {source_sum(row)} AS s FROM "
        f"{table_of(shard)}"
    )
    return database.query(f"{grouped} WHERE {part.where(shard.key)} GROUP BY bucket")


def copy_sums(copy: DataFrame, table: LogicalTable, buckets: Buckets) -> DataFrame:
    """Return the row counts and checksums of the buckets of a copy; columns as in `source_sums`.

    Deleted rows are excluded. Columns of the copy that no message contains are included: they
    should be empty.
    """
    shard, kinds = table.shards[0], kinds_of(copy)
    row = copy_hash(copy_row_text([*table.columns, *table.unpublished], kinds)).alias("row")
    rows = copy.where(~sf.col(DELETED)).select(buckets.copy(shard, kinds).alias("bucket"), row)
    return rows.groupBy("bucket").agg(sf.count("*").alias("n"), copy_sum(sf.col("row")).alias("s"))


def summed(rows: Iterable[Row]) -> Mapping[int, BucketSum]:
    """Return bucket → its row count and checksum. `rows` may have several rows for a bucket, from
    different key ranges; they are added.
    """
    found: dict[int, BucketSum] = {}
    for row in rows:
        bucket = int(row["bucket"])
        found[bucket] = found.get(bucket, BucketSum()) + BucketSum(int(row["n"]), int(row["s"]))
    return found


def differing(source: Mapping[int, BucketSum], copy: Mapping[int, BucketSum]) -> Sequence[int]:
    """Return the numbers of the buckets whose sums differ, in ascending order.

    A bucket that one side lacks counts as empty.
    """
    return sorted(
        each
        for each in source.keys() | copy.keys()
        if source.get(each, BucketSum()) != copy.get(each, BucketSum())
    )


def source_hashes(
    database: SourceDatabase,
    table: LogicalTable,
    shard: Shard,
    part: KeyRange,
    buckets: Buckets,
    wanted: Collection[int],
) -> DataFrame:
    """Return the hashes of those rows of a key range that are in the wanted buckets.

    database  the source
    table     the logical table, whose columns are hashed
    shard     the real table that is read
    part      the key range
    buckets   assigns rows to buckets
    wanted    numbers of the wanted buckets

    Columns: place (text of the key, as in `keys.source_key`), key (message key), row (hash of the
    row).
    """
    where = f"{part.where(shard.key)} AND {buckets.where(wanted, shard)}"
    extra = {
        "place": source_key(shard),
        "row": source_hash(source_row_text(table.columns, shard.by_name)),
    }
    return message_keys(database, shard, where, extra)


def copy_hashes(
    copy: DataFrame, table: LogicalTable, buckets: Buckets, wanted: Collection[int]
) -> DataFrame:
    """Return the hashes of the copy's rows in the buckets `wanted`; columns as in `source_hashes`.

    Deleted rows are excluded.
    """
    shard, kinds = table.shards[0], kinds_of(copy)
    live = copy.where(~sf.col(DELETED) & buckets.copy(shard, kinds).isin(*wanted))
    row = copy_hash(copy_row_text([*table.columns, *table.unpublished], kinds)).alias("row")
    return live.select(copy_key(shard, kinds).alias("place"), sf.col(KEY).alias("key"), row)


def kinds_of(copy: DataFrame) -> Mapping[str, DataType]:
    """Return the type of each column of the copy, by its name in lower case."""
    return {field.name.lower(): field.dataType for field in copy.schema.fields}


def unequal(source: Sequence[DataFrame], copy: DataFrame) -> DataFrame:
    """Return the keys that only the source or only the copy has, that several shards have, or whose
    rows have different hashes.

    source  results of `source_hashes` for all shards and key ranges
    copy    result of `copy_hashes`

    Columns: place (text of the key), key (message key).
    """
    every = reduce(DataFrame.unionByName, source).groupBy("key")
    left = every.agg(
        sf.min("place").alias("place"), sf.min("row").alias("row"), sf.count("*").alias("n")
    ).alias("l")
    joined = left.join(copy.alias("r"), "key", "full_outer").where(
        ~sf.col("l.row").eqNullSafe(sf.col("r.row")) | (sf.col("l.n") > 1)
    )
    return joined.select(sf.coalesce("l.place", "r.place").alias("place"), "key")


def in_groups(parts: Iterable[DataFrame], size: int) -> Iterator[Sequence[DataFrame]]:
    """Yield `parts` in groups of `size`; the last group may be smaller."""
    left = iter(parts)
    while group := list(islice(left, size)):
        yield group

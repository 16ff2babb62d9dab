"""Divides the rows of a table into buckets, so that one checksum is computed for each bucket.

Buckets are ranges of the key's first column if that is an integer, otherwise ranges of a hash of
the key. The bucket of a row follows only from the values of its key, so both sides assign it to the
same bucket, although they may sort keys differently.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final, TypeAlias

import pyspark.sql.functions as sf
from pyspark.sql import Column
from pyspark.sql.types import DataType

from relay.model.source_rows.columns import SourceColumn
from relay.model.source_rows.texts import plain_text
from spark_jobs.comparison.keys import copy_key, source_key
from spark_jobs.origin.shard import Shard
from spark_jobs.spark_util.identifiers import quoted

_HASHES: Final = 1 << 32
_NUMBER: Final = "decimal(20,0)"


@dataclass(frozen=True, slots=True)
class NumberBuckets:
    """Ranges of an integer column: bucket i has the `width` numbers from `low + i * width` on.

    column  the first column of the key
    low     the first number of bucket 0, which also has all smaller numbers
    width   how many numbers a bucket has
    """

    column: SourceColumn
    low: int
    width: int

    def source(self, _shard: Shard) -> str:
        """Return the SQL expression that computes the bucket number of a row of the source."""
        number = f"CAST({plain_text(self.column)} AS DECIMAL(20,0))"
        return f"CAST((GREATEST({number}, {self.low}) - {self.low}) DIV {self.width} AS SIGNED)"

    def copy(self, _shard: Shard, _kinds: Mapping[str, DataType]) -> Column:
        """Return the Spark expression that computes the bucket number of a row of the copy.

        `_kinds` has the types of the copy's columns.
        """
        low = sf.lit(str(self.low)).cast(_NUMBER)
        number = sf.greatest(sf.col(quoted(self.column.name)).cast(_NUMBER), low)
        return sf.call_function("div", number - low, sf.lit(str(self.width)).cast(_NUMBER))

    def where(self, buckets: Collection[int], _shard: Shard) -> str:
        """Return an SQL condition that is true for the rows of the buckets with these numbers.

        The condition is a list of ranges, for which the source server can use an index.
        """
        return f"({' OR '.join(self._between(first, last) for first, last in runs(buckets))})"

    def named(self, first: int, last: int) -> str:
        """Return the buckets with the numbers from `first` to `last` as text for people."""
        low = "" if first == 0 else str(self.low + first * self.width)
        return f"{self.column.name} {low}..{self.low + (last + 1) * self.width - 1}"

    def _between(self, first: int, last: int) -> str:
        name, high = quoted(self.column.name), self.low + (last + 1) * self.width - 1
        return (
            f"{name} <= {high}"
            if first == 0
            else f"{name} BETWEEN {self.low + first * self.width} AND {high}"
        )


@dataclass(frozen=True, slots=True)
class HashBuckets:
    """Ranges of a hash: the range of CRC-32 is divided into `count` equal parts, and bucket i has
    the rows whose key's CRC-32 is in part i.
    """

    count: int

    def source(self, shard: Shard) -> str:
        """Return the SQL expression that computes the bucket number of a row of the source."""
        return f"CAST(CRC32({source_key(shard)}) DIV {self._part} AS SIGNED)"

    def copy(self, shard: Shard, kinds: Mapping[str, DataType]) -> Column:
        """Return the Spark expression that computes the bucket number of a row of the copy.

        `kinds` has the types of the copy's columns.
        """
        return sf.call_function(
            "div",
            sf.crc32(copy_key(shard, kinds).cast("binary")),
            sf.lit(str(self._part)).cast("bigint"),
        )

    def where(self, buckets: Collection[int], shard: Shard) -> str:
        """Return an SQL condition that is true for the rows of the buckets with these numbers."""
        return f"{self.source(shard)} IN ({', '.join(map(str, sorted(buckets)))})"

    def named(self, first: int, last: int) -> str:
        """Return the buckets with the numbers from `first` to `last` as text for people."""
        return (
            f"keys with CRC-32 "
            f"{first * self._part:08x}..{min((last + 1) * self._part, _HASHES) - 1:08x}"
        )

    @property
    def _part(self) -> int:
        return ceil(_HASHES / self.count)


Buckets: TypeAlias = NumberBuckets | HashBuckets


def number_buckets(column: SourceColumn, low: int, high: int, count: int) -> NumberBuckets:
    """Return at most `count` buckets of equal width for the numbers from `low` to `high` of
    `column`.
    """
    return NumberBuckets(column, low, max(1, ceil((high - low + 1) / count)))


def runs(buckets: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last number of each run of consecutive bucket numbers.

    1, 2, 3, 7 gives (1, 3), (7, 7).
    """
    first = last = None
    for bucket in sorted(buckets):
        if first is None or last is None:
            first = last = bucket
        elif bucket == last + 1:
            last = bucket
        else:
            yield first, last
            first = last = bucket
    if first is not None and last is not None:
        yield first, last

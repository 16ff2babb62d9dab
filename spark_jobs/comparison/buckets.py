"""The pieces of a table that have one checksum: ranges of the key's first column if that is an
integer, else hash ranges.

Both sides assign a row to a piece by its values only, regardless of their sort orders.
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
    """Bucket i holds `width` numbers from `low + i * width` on.

    The first one all that are smaller, too.
    """

    column: SourceColumn
    low: int
    width: int

    def source(self, _shard: Shard) -> str:
        """Return the SQL expression of a row's bucket in the source."""
        number = f"CAST({plain_text(self.column)} AS DECIMAL(20,0))"
        return f"CAST((GREATEST({number}, {self.low}) - {self.low}) DIV {self.width} AS SIGNED)"

    def copy(self, _shard: Shard, _kinds: Mapping[str, DataType]) -> Column:
        """Return the bucket of a row of the copy."""
        low = sf.lit(str(self.low)).cast(_NUMBER)
        number = sf.greatest(sf.col(quoted(self.column.name)).cast(_NUMBER), low)
        return sf.call_function("div", number - low, sf.lit(str(self.width)).cast(_NUMBER))

    def where(self, buckets: Collection[int], _shard: Shard) -> str:
        """SQL that holds for the rows of these buckets, as ranges that an index serves."""
        return f"({' OR '.join(self._between(first, last) for first, last in runs(buckets))})"

    def named(self, first: int, last: int) -> str:
        """Return a run of buckets as a person reads it."""
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
    """Bucket i holds the keys whose CRC-32 is in the i-th of `count` equal parts."""

    count: int

    def source(self, shard: Shard) -> str:
        """Return the SQL expression of a row's bucket in the source."""
        return f"CAST(CRC32({source_key(shard)}) DIV {self._part} AS SIGNED)"

    def copy(self, shard: Shard, kinds: Mapping[str, DataType]) -> Column:
        """Return the bucket of a row of the copy."""
        return sf.call_function(
            "div",
            sf.crc32(copy_key(shard, kinds).cast("binary")),
            sf.lit(str(self._part)).cast("bigint"),
        )

    def where(self, buckets: Collection[int], shard: Shard) -> str:
        """SQL that holds for the rows of these buckets."""
        return f"{self.source(shard)} IN ({', '.join(map(str, sorted(buckets)))})"

    def named(self, first: int, last: int) -> str:
        """Return a run of buckets as a person reads it."""
        return (
            f"keys with CRC-32 "
            f"{first * self._part:08x}..{min((last + 1) * self._part, _HASHES) - 1:08x}"
        )

    @property
    def _part(self) -> int:
        return ceil(_HASHES / self.count)


Buckets: TypeAlias = NumberBuckets | HashBuckets


def number_buckets(column: SourceColumn, low: int, high: int, count: int) -> NumberBuckets:
    """Cut the numbers from `low` to `high` into at most `count` buckets of one width."""
    return NumberBuckets(column, low, max(1, ceil((high - low + 1) / count)))


def runs(buckets: Collection[int]) -> Iterator[tuple[int, int]]:
    """Join neighbours: 1, 2, 3, 7 → (1, 3), (7, 7)."""
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

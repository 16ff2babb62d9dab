"""Compares source and copy of one logical table: checksums of all buckets, then the rows of
differing buckets, then the verdict.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from time import monotonic
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, Row, SparkSession

from relay.model.source_rows.columns import WHOLE
from relay.model.source_rows.key_range import Boundary
from spark_jobs.comparison.as_copied import Columns, columns_of, range_as_copied
from spark_jobs.comparison.buckets import Buckets, HashBuckets, number_buckets, runs
from spark_jobs.comparison.findings import TableFindings
from spark_jobs.comparison.guards import odd_rows
from spark_jobs.comparison.row_lookup import Seen, TargetRow, compare_again
from spark_jobs.comparison.sums import (
    BucketSum,
    copy_hashes,
    copy_sums,
    differing,
    in_groups,
    kinds_of,
    source_hashes,
    source_sums,
    summed,
    unequal,
)
from spark_jobs.comparison.verdict import DecidedRows
from spark_jobs.config.copy import ReconcileSettings
from spark_jobs.config.job import SchemaPolicy
from spark_jobs.origin import KeyRange, Shard, SourceDatabase, next_boundary, ranges_of
from spark_jobs.origin.key_ranges import table_of
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.sinks import Sink
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.spark_util.progress import Piece
from spark_jobs.spark_util.spark_progress import rows_being_read
from spark_jobs.transforms import own_columns

_MAX_BUCKETS: Final = 100_000
Settle = Callable[
    [LogicalTable, Sequence[TargetRow], Callable[[Sequence[TargetRow]], Mapping[str, Seen]]],
    DecidedRows,
]


@dataclass(frozen=True, slots=True)
class TableComparison:
    """Compares tables with their copies. The fields are the same for all tables.

    databases              instance → its source
    sink                   the store of the copies
    settings               limits of rows, ranges and parallel queries
    compare_until_decided  compares rows repeatedly until a difference is known not to be lag
    policy                 how the copies treat added columns
    newest                 returns the greatest order key that the instances of a table have
                           published; None: the copies are not ordered by it, so guards are not
                           checked
    """

    spark: SparkSession
    databases: Mapping[str, SourceDatabase]
    sink: Sink
    settings: ReconcileSettings
    compare_until_decided: Settle
    policy: SchemaPolicy
    newest: Callable[[LogicalTable], str] | None = None

    def compare(self, table: LogicalTable, piece: Piece | None = None) -> TableFindings:
        """Compare all rows of a table. `piece` receives the progress; None: no progress is shown.

        Raises JobError if a source or the copy cannot be read.
        """
        piece = piece or Piece(table.name)
        began, table = monotonic(), self._kept(table)
        parts = [
            (shard, part)
            for shard in table.shards
            for part in ranges_of(list(self._boundaries(shard)))
        ]
        buckets = self._buckets(table, parts)
        source = self._source_sums(table, parts, buckets, piece)
        newest = None if self.newest is None else self.newest(table)
        copy = self.sink.read(table.name)
        piece.next_step("summing up the copy", _rows(source))
        piece.read_rows = partial(rows_being_read, self.spark)
        kept = {} if copy is None else summed(copy_sums(copy, table, buckets).collect())
        unpublished = [column.name for column in table.unpublished]
        found = TableFindings(table.name, _rows(source), _rows(kept), unpublished=unpublished)
        wanted = differing(source, kept)
        if copy is None and wanted:
            return replace(
                found, reason="there is no copy; bootstrap makes one", seconds=monotonic() - began
            )
        odd = (
            None
            if copy is None or newest is None
            else odd_rows(copy, table.shards[0], kinds_of(copy), newest)
        )
        if copy is not None and (wanted or odd is not None):
            piece.next_step("reading the rows that differ", None)
            found = self._narrowed(table, parts, buckets, wanted, odd, found)
        return replace(found, seconds=monotonic() - began)

    def compare_again(self, table: LogicalTable, places: Sequence[TargetRow]) -> Mapping[str, Seen]:
        """Compare the rows `places` once; return those that differ now: message key → difference.

        Returns an empty mapping if there is no copy.
        """
        copy = self.sink.read(table.name)
        newest = (lambda: None) if self.newest is None else partial(self.newest, table)
        return (
            {}
            if copy is None
            else compare_again(self.spark, self.databases, self._kept(table), copy, places, newest)
        )

    def _kept(self, table: LogicalTable) -> LogicalTable:
        """Return the table without the columns that its copy ignores."""
        copy = self.sink.read(table.name) if self.policy.added == "ignore" else None
        if copy is None:
            return table
        there = {name.lower() for name in own_columns(copy)}
        return replace(
            table, ignored=frozenset(each.name.lower() for each in table.columns) - there
        )

    def _narrowed(
        self,
        table: LogicalTable,
        parts: Sequence[tuple[Shard, KeyRange]],
        buckets: Buckets,
        wanted: Sequence[int],
        odd: DataFrame | None,
        found: TableFindings,
    ) -> TableFindings:
        """Find the rows of the differing buckets, and settle them and rows with invalid guards.

        The settings limit their number.
        """
        rows = self._unequal(table, parts, buckets, wanted) if wanted else None
        parted = [each for each in (rows, odd) if each is not None]
        if not parted:
            return found
        # A row with odd guards may differ too: the place that is known is the greater text.
        rows = (
            reduce(DataFrame.unionByName, parted)
            .groupBy("key")
            .agg(sf.max("place").alias("place"))
            .persist()
        )
        try:
            count = rows.count()
            listed = rows.orderBy("place").limit(self.settings.max_rows).collect()
        finally:
            rows.unpersist()
        places = [TargetRow(row["key"], row["place"]) for row in listed]
        decided = self.compare_until_decided(
            table, places, lambda some: self.compare_again(table, some)
        )
        return replace(
            found,
            ranges=[buckets.named(first, last) for first, last in runs(wanted)],
            different=decided.different,
            undecided=decided.undecided,
            more=count - len(places),
        )

    def _unequal(
        self,
        table: LogicalTable,
        parts: Sequence[tuple[Shard, KeyRange]],
        buckets: Buckets,
        wanted: Sequence[int],
    ) -> DataFrame | None:
        """Return `place, key` of the rows of these buckets that differ.

        None if the copy was removed.
        """
        copy = self.sink.read(table.name)
        if copy is None:
            return None
        columns = columns_of(table, copy)
        source = [
            self._hashes(table, shard, part, buckets, wanted, columns) for shard, part in parts
        ]
        return unequal(source, copy_hashes(copy, table, buckets, wanted))

    def _boundaries(self, shard: Shard) -> "Sequence[Boundary]":
        found: list[Boundary] = []
        database = self.databases[shard.instance]
        while rows := database.rows(
            next_boundary(shard, found[-1] if found else None, self.settings.range_rows)
        ):
            found.append(tuple(rows[0]))
        return found

    def _buckets(self, table: LogicalTable, parts: Sequence[tuple[Shard, KeyRange]]) -> Buckets:
        count = min(
            _MAX_BUCKETS, max(1, len(parts) * self.settings.range_rows // self.settings.bucket_rows)
        )
        first = table.shards[0].published_key[0]
        keys = [(shard, shard.published_key[0]) for shard in table.shards]
        if any(
            key.kind not in WHOLE or key.name != first.name or shard.shard_in_key
            for shard, key in keys
        ):
            return HashBuckets(count)
        ends = [end for shard in table.shards for end in self._ends(shard)]
        return number_buckets(first, min(ends, default=0), max(ends, default=0), count)

    def _ends(self, shard: Shard) -> Sequence[int]:
        """The smallest and the greatest number of the key's first column; an index answers."""
        name = quoted(shard.key[0].name)
        number = f"CAST({name} AS UNSIGNED)" if shard.key[0].kind == "bit" else name
        ends = (
            f"SELECT CAST(MIN({number}) AS CHAR) AS low, CAST(MAX({number}) AS CHAR) AS high FROM "
            f"{table_of(shard)}"
        )
        row = self.databases[shard.instance].rows(ends)[0]
        return [int(row["low"]), int(row["high"])] if row["low"] is not None else []

    def _source_sums(
        self,
        table: LogicalTable,
        parts: Sequence[tuple[Shard, KeyRange]],
        buckets: Buckets,
        piece: Piece,
    ) -> Mapping[int, BucketSum]:
        columns = columns_of(table, self.sink.read(table.name)) if table.ruled else {}
        queries = (self._sums(table, shard, part, buckets, columns) for shard, part in parts)
        sums: list[Row] = []
        for group in in_groups(queries, self.settings.parallel):
            found = reduce(DataFrame.unionByName, group).collect()
            sums += found
            piece.add(_rows(summed(found)))
        return summed(sums)

    def _sums(
        self, table: LogicalTable, shard: Shard, part: KeyRange, buckets: Buckets, columns: Columns
    ) -> DataFrame:
        """The sums of a range: by the server, or here where rules make other rows of those that it
        has.
        """
        database = self.databases[shard.instance]
        if table.ruled:
            return copy_sums(range_as_copied(database, table, shard, part, columns), table, buckets)
        return source_sums(database, table, shard, part, buckets)

    def _hashes(
        self,
        table: LogicalTable,
        shard: Shard,
        part: KeyRange,
        buckets: Buckets,
        wanted: Sequence[int],
        columns: Columns,
    ) -> DataFrame:
        database = self.databases[shard.instance]
        if table.ruled:
            return copy_hashes(
                range_as_copied(database, table, shard, part, columns), table, buckets, wanted
            )
        return source_hashes(database, table, shard, part, buckets, wanted)


def _rows(sums: Mapping[int, BucketSum]) -> int:
    return sum(each.rows for each in sums.values())

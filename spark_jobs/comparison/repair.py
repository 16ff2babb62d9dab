"""Repairs differing rows: reads them again from the sources, writes them to the copy under a new
order key, and checks the copy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.apply.table_writer import TableWriter, deletes, upserts
from spark_jobs.comparison.row_lookup import SEVERAL_IN_SOURCE, Seen, TargetRow, source_rows
from spark_jobs.first_copy.stale_keys import REMOVE, unmet
from spark_jobs.origin import SourceDatabase
from spark_jobs.origin.shards import LogicalTable, refuse_unseen
from spark_jobs.sinks import Sink
from spark_jobs.spark_util.cache import cached
from spark_jobs.spark_util.text_frame import texts
from spark_jobs.transforms import DELETED, KEY, ORDER


@dataclass(frozen=True, slots=True)
class Repair:
    """Replaces rows of a copy with the rows that the sources have now.

    databases  instance → its source
    sink       the store of the copies
    writer     writes the rows to `sink`
    """

    databases: Mapping[str, SourceDatabase]
    sink: Sink
    writer: TableWriter

    def write(
        self, table: LogicalTable, places: Sequence[TargetRow], pairs: Mapping[str, str]
    ) -> None:
        """Write the listed rows to the copy as the sources have them now. A row that no source has
        is written as a delete.

        table   the logical table of the rows
        places  the rows
        pairs   instance → the order key under which its rows are written. The caller must read
                these order keys before this call
        """
        pieces = source_rows(self.databases, table, places)
        owned = [upserts(rows, pairs[shard.instance], shard) for shard, rows in pieces]
        with cached(reduce(DataFrame.unionByName, owned)) as rows:
            self.writer.write(table, rows)
            self._delete(table, places, rows, pairs)

    def _delete(
        self,
        table: LogicalTable,
        places: Sequence[TargetRow],
        met: DataFrame,
        pairs: Mapping[str, str],
    ) -> None:
        copy = self.sink.read(table.name)
        if copy is None:
            return
        wanted = texts(copy.sparkSession, KEY, [each.key for each in places])
        shown = copy.select(KEY, ORDER, DELETED).join(sf.broadcast(wanted), KEY, "left_semi")
        # Later changes are published by the stream, so the same order keys are used for before
        # and after.
        gone = unmet(shown, met, pairs, pairs).where(sf.col("verdict") == REMOVE)
        refuse_unseen(table, gone.count() if table.unseen else 0)
        self.writer.write(table, deletes(gone, table))


def why_unrepaired(seen: Seen, pairs: Mapping[str, str]) -> str:
    """Return one sentence: why a row differs after the repair wrote it, and the remedy.

    seen   the difference that was found after the repair
    pairs  instance → the order key under which the repair wrote its rows
    """
    newest = max(pairs.values())
    if SEVERAL_IN_SOURCE in seen.what:
        return (
            "the copy keeps one row per key: make the real table a part of the key (key_scope "
            '= "shard"), or give the rows different keys'
        )
    if seen.guard > newest:
        return (
            f"its guard {seen.guard} is above {newest}, the newest order that the relay has "
            "published, so no order key is greater: remove the row from the copy and repair "
            "again"
        )
    if seen.source is None and seen.guard:
        return (
            "the source has no such row to write, and a deleted row is not written again: remove "
            "the row from the copy"
        )
    return (
        f"the repair wrote it with order key {newest}, and it differs again: repair again, or "
        "copy the table with roma bootstrap --anew"
    )

"""Differing rows made right through the rule: read anew under a fresh pair, written, looked at again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.cache import cached
from spark_jobs.comparison.look import Place, source_rows
from spark_jobs.first_copy.unmet import REMOVE, unmet
from spark_jobs.sinks import Sink
from spark_jobs.source import SourceDatabase
from spark_jobs.sources import LogicalTable, refuse_unseen
from spark_jobs.table_writes import TableWriter, deletes, upserts
from spark_jobs.text_list import texts
from spark_jobs.transforms import DELETED, KEY, ORDER


@dataclass(frozen=True, slots=True)
class Repair:
    """Writes rows of the sources over those of the copy."""

    databases: Mapping[str, SourceDatabase]
    sink: Sink
    writer: TableWriter

    def write(self, table: LogicalTable, places: Sequence[Place], pairs: Mapping[str, str]) -> None:
        """Write these rows as the sources have them now, those that no source has as deletes. `pairs` are older than this call."""
        pieces = source_rows(self.databases, table, places)
        owned = [upserts(rows, pairs[instance]) for instance, rows in pieces]
        with cached(reduce(DataFrame.unionByName, owned)) as rows:
            self.writer.write(table, rows)
            self._delete(table, places, rows, pairs)

    def _delete(self, table: LogicalTable, places: Sequence[Place], met: DataFrame, pairs: Mapping[str, str]) -> None:
        copy = self.sink.read(table.name)
        if copy is None:
            return
        wanted = texts(copy.sparkSession, KEY, [each.key for each in places])
        shown = copy.select(KEY, ORDER, DELETED).join(sf.broadcast(wanted), KEY, "left_semi")
        # What has been published since is on its way by itself, so the same pairs stand for before and after.
        gone = unmet(shown, met, pairs, pairs).where(sf.col("verdict") == REMOVE)
        refuse_unseen(table, gone.count() if table.unseen else 0)
        self.writer.write(table, deletes(gone, table))

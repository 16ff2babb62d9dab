"""Writes the changes of many small copies with one Spark job: its tasks decide which changes are
newer, and write the files of all tables. Then each copy gets its own commit.

With separate jobs for each table, planning takes most of the time. The rule and the transactions
are those of `commit.put` for copies without deletion vectors. A table that cannot be written in
this way stays unchanged, and the caller writes it alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

from spark_jobs.sinks.delta_lake.commit import metrics
from spark_jobs.sinks.delta_lake.java_classes import SOURCES
from spark_jobs.sinks.delta_lake.rewrite_job import CopyRewrite, Rewritten, rewritten
from spark_jobs.sinks.delta_lake.row_shapes import RowShapes
from spark_jobs.sinks.delta_lake.transaction import Batch, JavaObject, OpenCopy
from spark_jobs.sinks.local_lock import alone
from spark_jobs.sinks.parallel import in_threads
from spark_jobs.sinks.sink import ReducedBatch, TableBatch, Written
from spark_jobs.spark_util.report import print_notice
from spark_jobs.transforms import KEY

_FEWEST_TABLES: Final = 4
_TABLES_OF_A_JOB: Final = 500
"""The descriptions of all of them are sent to each task."""
_MOST_CHANGES: Final = 25_000
_MOST_FILES: Final = 32
_MOST_BYTES: Final = 16_000_000
_MOST_ROWS: Final = 100_000
"""A task holds their keys and order keys in memory."""
_FAILED: Final = (PySparkException, Py4JError)
"""Errors after which a table is written alone; if they persist, they are raised there."""


@dataclass(frozen=True, slots=True)
class _SmallCopy:
    """A copy that is to be written, with its transaction."""

    changes: TableBatch
    copy: OpenCopy
    rewrite: CopyRewrite


@dataclass(frozen=True, slots=True)
class SmallTables:
    """Writes small tables of one sink together.

    path     returns the location of a table's copy
    shapes   the cache of row shapes
    threads  largest number of copies that are opened or committed at the same time
    """

    path: Callable[[str], str]
    shapes: RowShapes
    threads: int

    def write(self, batch: ReducedBatch, identity: Batch | None) -> Mapping[str, Written]:
        """Write the small tables of a batch, each in one commit.

        batch     the batch
        identity  identity of the batch, which the commits record; None: they record none

        Returns table → counts, for the tables whose copies have the batch now. The copies of all
        other tables are unchanged.
        """
        few = [each for each in batch.tables if _is_small(each)]
        if len(few) < _FEWEST_TABLES:
            return {}
        done: dict[str, Written] = {}
        for first in range(0, len(few), _TABLES_OF_A_JOB):
            done.update(self._written(batch, few[first : first + _TABLES_OF_A_JOB], identity))
        return done

    def _written(
        self, batch: ReducedBatch, tables: Sequence[TableBatch], identity: Batch | None
    ) -> Mapping[str, Written]:
        spark = batch.changes.sparkSession
        opening = partial(self._opened, form=batch.changes.schema, identity=identity)
        opened = in_threads(spark, opening, tables, self.threads)
        copies = [each for each in opened if isinstance(each, _SmallCopy)]
        results = _results(batch, copies)
        committing = partial(self._committed, results=results, identity=identity)
        committed = in_threads(spark, committing, copies, self.threads)
        found = [
            *zip(tables, opened, strict=True),
            *zip((each.changes for each in copies), committed, strict=True),
        ]
        done = {changes.table: each for changes, each in found if isinstance(each, Written)}
        batch.done(sum(each.number or 0 for each in tables if each.table in done))
        return done

    def _opened(
        self, changes: TableBatch, form: StructType, identity: Batch | None
    ) -> _SmallCopy | Written | None:
        """Open a copy. Return the counts if it has the batch already, and None if it cannot be
        opened or is not small.
        """
        try:
            copy = OpenCopy.at(changes.changes.sparkSession, self.path(changes.table))
            files = None if copy is None else _small_files(copy)
            if copy is None or files is None:
                return None
            if identity is not None and copy.has(identity):
                return Written(replayed=True)
            shape = self.shapes.of(changes, form, copy)
            if shape is None:
                return None
            return _SmallCopy(changes, copy.reading(KEY, None), CopyRewrite(files, shape))
        except _FAILED:
            return None

    def _committed(
        self, small: _SmallCopy, results: Mapping[str, Rewritten], identity: Batch | None
    ) -> Written | None:
        """Commit the result of a copy. Return None if it has none, or the commit failed."""
        done = results.get(small.changes.table)
        if done is None:
            return None
        figures = metrics(done.written, done.wins, done.loses, done.kept)
        found = small.rewrite.files.actions(done.replaced, done.file)
        actions = [found.get(number) for number in range(found.size())]
        try:
            with alone(small.copy.spark, self.path(small.changes.table)):
                small.copy.commit(actions, identity, figures)
        except _FAILED:
            return None
        return Written(done.written)


def _is_small(changes: TableBatch) -> bool:
    return changes.number is not None and changes.number <= _MOST_CHANGES


def _small_files(copy: OpenCopy) -> JavaObject | None:
    """Return the `CopyFiles` of a copy; None if it does not exist, or one task could not write all
    of it.
    """
    if copy.marks_rows or copy.transaction.readVersion() < 0:
        return None
    files = SOURCES.made(copy.spark, "CopyFiles", copy.log, copy.transaction)
    return files if files.isWithin(_MOST_FILES, _MOST_BYTES, _MOST_ROWS) else None


def _results(batch: ReducedBatch, copies: Sequence[_SmallCopy]) -> Mapping[str, Rewritten]:
    """Return the results of the job; none of them if it failed."""
    if not copies:
        return {}
    described = {each.changes.table: each.rewrite for each in copies}
    try:
        return rewritten(batch.changes, described, copies[0].copy.log)
    except _FAILED as exc:
        print_notice(
            f"{len(copies)} tables are written one by one, because their job failed: {exc}"
        )
        return {}

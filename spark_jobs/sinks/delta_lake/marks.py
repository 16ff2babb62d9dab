"""Removes rows of a Delta table by deletion vectors, without a Spark job if the driver can
compute them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import time
from typing import Final

from pyspark.sql import Column

from spark_jobs.sinks.delta_lake.transaction import DELTA, JavaObject, OpenCopy, each_of

_COMMANDS: Final = f"{DELTA}.commands"
_MARKED_HERE: Final = 50
"""Number of files.

Each needs a read and a write of some hundred bytes to some hundred thousand, one after the other.
"""
_FORMAT: Final = "Portable"
"""The format of bitmaps in files."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Rows of one file to remove.

    file   the file, as in Spark's column `_metadata.file_path`
    rows   set of the row numbers, as `bitmap` returns it
    count  number of these rows
    """

    file: str
    rows: bytes
    count: int


def bitmap(copy: OpenCopy, numbers: Column) -> Column:
    """Return the aggregate expression that collects row numbers of one file into a set.

    `numbers` is the expression for a row number; NULLs are ignored.
    """
    columns = copy.java("org.apache.spark.sql.classic.ExpressionUtils")
    aggregator = copy.java("org.apache.spark.sql.catalyst.expressions.aggregation.BitmapAggregator")
    aggregation = aggregator(columns.expression(numbers._jc), 0, 0, _FORMAT)
    return Column(columns.column(aggregation.toAggregateExpression()))["bitmap"]


def marked(copy: OpenCopy, gone: Iterable[Gone]) -> Sequence[JavaObject]:
    """Mark the rows `gone` as removed by deletion vectors, and return the actions to commit.

    The marks take effect when the actions are committed.
    """
    helper, folder = copy.java(f"{_COMMANDS}.DMLWithDeletionVectorsHelper"), copy.log.dataPath()
    names = helper.generateCandidateFileMap(folder, copy.files)
    stored = _stored(
        copy,
        [
            _with_earlier(copy, each, helper.getTouchedFile(folder, each.file, names))
            for each in gone
        ],
    )
    touched = helper.findFilesWithMatchingRows(copy.transaction, names, stored)
    if all(each.fileLogEntry().stats() for each in each_of(touched)):
        return [action for each in each_of(touched) for action in _without_rows(each)]
    # The listing has no statistics of files: Delta reads them from its log, which takes four jobs.
    return each_of(
        helper.processUnmodifiedData(
            copy.spark._jsparkSession, touched, copy.transaction.snapshot()
        )._1()
    )


def _with_earlier(copy: OpenCopy, gone: Gone, file: JavaObject) -> JavaObject:
    """Return the rows together with those that were marked before."""
    earlier, some = file.deletionVector(), copy.java("scala.Option").apply
    place = some(None if earlier is None else earlier.serializeToBase64())
    return copy.java(f"{_COMMANDS}.DeletionVectorData")(gone.file, place, gone.rows, gone.count)


def _stored(copy: OpenCopy, marks: Sequence[JavaObject]) -> JavaObject:
    """Write marks down, each with those before it."""
    session, seq = copy.spark._jsparkSession, copy.seq
    prefix = copy.java(f"{DELTA}.util.Utils").getRandomPrefixLength(copy.transaction.metadata())
    conf, folder = copy.log.newDeltaHadoopConf(), copy.log.dataPath()
    store = copy.java(f"{_COMMANDS}.DeletionVectorWriter").createMapperToStoreDeletionVectors(
        session, conf, folder, prefix
    )
    if len(marks) <= _MARKED_HERE:
        return store.apply(seq(marks).iterator()).toSeq()
    many = session.createDataset(seq(marks), copy.java(f"{_COMMANDS}.DeletionVectorData").encoder())
    return seq(
        many.mapPartitions(
            store, copy.java(f"{_COMMANDS}.DeletionVectorResult").encoder()
        ).collectAsList()
    )


def _without_rows(touched: JavaObject) -> Sequence[JavaObject]:
    """Return the actions that replace the file's marks, or remove the file if no row of it is
    left.
    """
    file = touched.fileLogEntry()
    if touched.isFullyReplaced():
        return (file.removeWithTimestamp(int(time() * 1000), True),)
    changed = file.removeRows(touched.newDeletionVector(), True, True)
    return changed._1(), changed._2()

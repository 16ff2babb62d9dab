"""One commit of Delta whose rows were decided about before: what a MERGE asks the copy three times is asked once.

MERGE joins the changes with the copy to find the files that it touches, again with all columns of those files to write, and a third time to
mark the rows that went. Here one join over keys and orders says which change wins and where the row lies that it takes the place of;
winners are then written without looking at the copy again. The transaction is Delta's own and has read what a MERGE reads, so that another
writer's commit in between makes it fail in the same way.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType

from spark_jobs.cache import cached
from spark_jobs.quoting import quoted
from spark_jobs.sinks.delta_transaction import Batch, OpenCopy
from spark_jobs.sinks.sink import Written
from spark_jobs.transforms import KEY, ORDER

_LOOKED_THROUGH_BYTES: Final = 256_000_000
"""A copy up to this size is looked through whole; of a larger one only the files and pages that may hold the batch's keys."""
_RANGES: Final = 8
"""Few, because each row that is read is compared with all of them."""
_FILE, _ROW, _WINS = "file", "row", "wins"


def put(copy: OpenCopy, rows: DataFrame, batch: Batch | None) -> Written | None:
    """Write the rows that win over the copy's, at most one row a key, in one commit; None where the copy has other columns than they."""
    if _types(copy.rows()) != _types(rows):
        return None
    if batch is not None and copy.has(batch):
        return Written(replayed=True)
    wanted = _wanted(rows) if copy.size_bytes > _LOOKED_THROUGH_BYTES else sf.lit(True)
    copy = copy.reading(wanted)
    there = copy.rows().where(wanted)
    with cached(_met(there, rows)) as met:
        wins, loses = met.agg(sf.count_if(_WINS), sf.count_if(~sf.col(_WINS))).collect()[0]
        winners = rows.join(met.where(~sf.col(_WINS)).select(KEY), KEY, "left_anti") if loses else rows
        new = copy.written(winners.select(*map(quoted, there.columns)))
        gone = copy.marked(met.where(_WINS), _FILE, _ROW) if wins else ()
        written = sum(each.numPhysicalRecords().get() for each in new)
        copy.commit((*new, *gone), batch, _figures(written, wins, loses))
    return Written(written)


def _types(rows: DataFrame) -> Mapping[str, DataType]:
    return {field.name: field.dataType for field in rows.schema}


def _wanted(rows: DataFrame) -> Column:
    """Ranges in which all keys of the rows lie, few enough to be asked of each file."""
    ranges = rows.select(KEY).repartitionByRange(_RANGES, KEY).groupBy(sf.spark_partition_id()).agg(sf.min(KEY), sf.max(KEY)).collect()
    return reduce(or_, (sf.col(KEY).between(sf.lit(least), sf.lit(greatest)) for _, least, greatest in ranges), sf.lit(False))


def _figures(written: int, wins: int, loses: int) -> Mapping[str, int]:
    """What Delta's history shows of a MERGE."""
    return {
        "operationNumSourceRows": written + loses,
        "numTargetRowsInserted": written - wins,
        "numTargetRowsUpdated": wins,
        "numTargetRowsMatchedUpdated": wins,
        "numTargetRowsCopied": 0,
    }


def _met(there: DataFrame, rows: DataFrame) -> DataFrame:
    """Keys that the copy has already: whether the change wins, and where the copy's row lies."""
    place = (sf.col("_metadata.file_path").alias(_FILE), sf.col("_metadata.row_index").alias(_ROW))
    held = there.select(KEY, sf.col(ORDER).alias("held"), *place)
    return held.join(rows.select(KEY, ORDER), KEY).select(KEY, (sf.col(ORDER) >= sf.col("held")).alias(_WINS), _FILE, _ROW)

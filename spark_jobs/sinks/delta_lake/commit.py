"""Custom Delta upsert: one join decides the winners and the rows that they replace, instead of
MERGE's three scans of the copy.

MERGE joins the changes with the copy three times: to find the files with rows to replace, to write
the new rows with all columns of those files, and to mark the replaced rows as removed. Here one
join over keys and orders decides which change wins, and finds the row that it replaces. The winners
are then written without another read of the copy. If a copy has no deletion vectors, the files with
replaced rows are written again without these rows. The transaction is Delta's own and reads the
same files as a MERGE, so that the commit of another writer in between makes it fail in the same
way.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, Row
from pyspark.sql.types import DataType

from spark_jobs.sinks.delta_lake.files import KeyRange, share, within
from spark_jobs.sinks.delta_lake.marks import Gone, bitmap, marked
from spark_jobs.sinks.delta_lake.rewrite import held_by, removed, touched
from spark_jobs.sinks.delta_lake.transaction import Batch, JavaObject, OpenCopy
from spark_jobs.sinks.sink import Written
from spark_jobs.spark_util.cache import cached
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.transforms import EXECUTE_POSITION, EXECUTE_TIME, KEY

_LOOKED_THROUGH_BYTES: Final = 256_000_000
"""A copy up to this size is read completely.

Of a larger one only the files and pages that may hold the batch's keys.
"""
_RANGES: Final = 8
"""Few, because each row is compared with all of them."""
_NARROW: Final = 0.5
"""Share of the keys between the files' least and greatest.

Random keys cover nearly all of it, recent keys little.
"""
_FEW: Final = 500_000
"""Number of keys that are held in memory at the same time."""
_ROWS_OF_ONE_TASK: Final = 25_000
_FILES_OF_ONE_TASK: Final = 32
_BYTES_OF_ONE_TASK: Final = 16_000_000
"""Up to so many changes, and files and bytes of the copy, one task takes less than to spread them
takes.
"""
_BYTES_OF_A_CHANGE: Final = 50
"""In a file, as its keys and orders alone."""
_FILE, _ROW, _WINS, _SOUGHT = "file", "row", "wins", "sought"
_PAIR: Final = (EXECUTE_TIME, EXECUTE_POSITION)
"""The two numbers of `_order`, the guard; `roma reconcile` checks that they agree with it (ADR
46).
"""


def put(copy: OpenCopy, rows: DataFrame, number: int | None, batch: Batch | None) -> Written | None:
    """Write those of `rows` that are newer than the copy's row of the same key, in one commit.

    copy    the copy, opened
    rows    at most one row for each key
    number  approximate number of rows; None: unknown
    batch   identity of the batch, which the commit records; None: the commit records none

    Returns None, and writes nothing, if the copy and `rows` have different columns.
    """
    if _types(copy.rows()) != _types(rows):
        return None
    if batch is not None and copy.has(batch):
        return Written(replayed=True)
    ranges = _ranges(rows) if _few(number) and copy.size_bytes > _LOOKED_THROUGH_BYTES else None
    copy = copy.reading(KEY, ranges)
    there = _there(copy, ranges)
    with _met(copy, there, rows.select(KEY, *_PAIR), number) as met:
        files = _met_files(copy, met)
        wins, loses = sum(each[1] for each in files), sum(each[2] for each in files)
        lost = met.where(~sf.col(_WINS)).select(KEY)
        winners = rows.join(lost, KEY, "left_anti") if loses else rows
        winners = winners.select(*map(quoted, there.columns))
        if wins and not copy.marks_rows:
            old = touched(copy, (file for file, count, _, _ in files if count))
            new = copy.written(
                _with_kept(copy, old, winners, met, in_one_task=_is_one_task(number, copy))
            )
            held = held_by(old)
            written = sum(_rows_of(new)) - held + wins if held is not None else rows.count() - loses
            gone = removed(old)
        else:
            new = copy.written(winners)
            written = sum(_rows_of(new))
            gone = marked(
                copy,
                (Gone(file, bytes(places), count) for file, count, _, places in files if count),
            )
    copy.commit((*new, *gone), batch, metrics(written, wins, loses, sum(_rows_of(new)) - written))
    return Written(written)


def _met_files(copy: OpenCopy, met: DataFrame) -> Sequence[Row]:
    """Return for each file with rows that the changes touch: its name, how many win, how many
    lose, and a bitmap of the rows that are replaced.
    """
    places = bitmap(copy, sf.when(sf.col(_WINS), sf.col(_ROW)))
    counts = sf.count_if(_WINS), sf.count_if(~sf.col(_WINS))
    return met.groupBy(_FILE).agg(*counts, places).collect()


def _with_kept(
    copy: OpenCopy,
    old: Sequence[JavaObject],
    winners: DataFrame,
    met: DataFrame,
    *,
    in_one_task: bool,
) -> DataFrame:
    """The winners, and the rows of the replaced files whose keys no winner has."""
    kept, won = replace(copy, files=copy.seq(old)).rows(), met.where(_WINS).select(KEY)
    if not in_one_task:
        return winners.unionByName(kept.join(won, KEY, "left_anti"))
    alone = kept.coalesce(1).join(won.coalesce(1).hint("shuffle_hash"), KEY, "left_anti")
    return winners.unionByName(alone).coalesce(1)


def _rows_of(files: Sequence[JavaObject]) -> Sequence[int]:
    return [each.numPhysicalRecords().get() for each in files]


def _few(number: int | None) -> bool:
    return number is not None and number <= _FEW


def _is_one_task(number: int | None, copy: OpenCopy) -> bool:
    """Return whether changes and copy are so small that one task looks all of them up."""
    few = number is not None and number <= _ROWS_OF_ONE_TASK
    return few and copy.size_bytes <= _BYTES_OF_ONE_TASK and copy.files.size() <= _FILES_OF_ONE_TASK


def _is_held(number: int | None, copy_bytes: int) -> bool:
    """Whether the changes are held in memory and the copy's rows pass them by.

    Spark would guess by sizes that are far from the truth.
    """
    return number is not None and _few(number) and number * _BYTES_OF_A_CHANGE < copy_bytes


def _there(copy: OpenCopy, ranges: Sequence[KeyRange] | None) -> DataFrame:
    """Return the rows to search.

    Narrow ranges skip pages of files; filtering each row costs more than a lookup.
    """
    if ranges is None or (copy.span is not None and share(ranges, copy.span) > _NARROW):
        return copy.rows()
    return copy.rows().where(within(KEY, ranges))


def _types(rows: DataFrame) -> Mapping[str, DataType]:
    return {field.name: field.dataType for field in rows.schema}


def _ranges(rows: DataFrame) -> Sequence[KeyRange]:
    """Return ranges that contain all keys of the rows, few enough to be compared with each file."""
    keys = rows.agg(sf.sort_array(sf.collect_list(KEY)).alias("keys"))
    borders = [
        sf.floor(sf.size("keys") * number / _RANGES).cast("int") for number in range(_RANGES + 1)
    ]
    ranges = [
        sf.struct(sf.get("keys", first), sf.get("keys", behind - 1))
        for first, behind in pairwise(borders)
    ]
    return [(each[0], each[1]) for each in keys.select(*ranges).collect()[0] if all(each)]


def metrics(written: int, wins: int, loses: int, copied: int) -> Mapping[str, int]:
    """Return the metrics that Delta's history shows for a MERGE.

    written  number of new or changed rows
    wins     number of those that replace a row of the copy
    loses    number of changes that were discarded, because the copy has a newer row
    copied   number of unchanged rows that were written again with their file
    """
    return {
        "operationNumSourceRows": written + loses,
        "numTargetRowsInserted": written - wins,
        "numTargetRowsUpdated": wins,
        "numTargetRowsMatchedUpdated": wins,
        "numTargetRowsCopied": copied,
    }


@contextmanager
def _met(
    copy: OpenCopy, there: DataFrame, sought: DataFrame, number: int | None
) -> Iterator[DataFrame]:
    """Return the keys that the copy already has: whether the change wins, and where the copy's row
    is.

    The order key as numbers is equal to the text of an order, and is read in a fraction of the
    time.
    """
    held = _held(there, marks_rows=copy.marks_rows)
    if _is_one_task(number, copy):
        yield _decided(_joined_in_one_task(held, sought))
        return
    with cached(
        _decided(
            _joined_by_hash(held, sought)
            if _is_held(number, copy.size_bytes)
            else held.join(sought, KEY)
        )
    ) as met:
        yield met


def _joined_in_one_task(held: DataFrame, sought: DataFrame) -> DataFrame:
    """Join both sides in one partition each, so that one job is sufficient.

    It is computed again if a change loses, which costs less than a cache.
    """
    return held.coalesce(1).join(sought.coalesce(1).hint("shuffle_hash"), KEY)


def _joined_by_hash(held: DataFrame, sought: DataFrame) -> DataFrame:
    """Join changes in memory by hash: Spark finds a number in half the time of a text.

    Keys with the same hash are compared with `between`: an equality would become Spark's join key.
    """
    change = sf.broadcast(sought.withColumnRenamed(KEY, _SOUGHT))
    alike = sf.xxhash64(KEY) == sf.xxhash64(_SOUGHT)
    return held.join(change, alike & sf.col(KEY).between(sf.col(_SOUGHT), sf.col(_SOUGHT)))


def _held(there: DataFrame, *, marks_rows: bool) -> DataFrame:
    """Return keys, order keys and locations of the copy's rows.

    Delta returns a row's number only if rows may be marked.
    """
    row = sf.col("_metadata.row_index") if marks_rows else sf.lit(None).cast("long")
    place = (sf.col("_metadata.file_path").alias(_FILE), row.alias(_ROW))
    return there.select(KEY, *(sf.col(each).alias(f"held{each}") for each in _PAIR), *place)


def _decided(met: DataFrame) -> DataFrame:
    time, held_time, position, held_position = (
        sf.col(f"{side}{each}") for each in _PAIR for side in ("", "held")
    )
    wins = (time > held_time) | ((time == held_time) & (position >= held_position))
    return met.select(KEY, sf.coalesce(wins, sf.lit(False)).alias(_WINS), _FILE, _ROW)

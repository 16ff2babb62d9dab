"""Finds the rows of a copy that a TRUNCATE removes, and checks if the copy can identify them."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.apply.per_table import TableContents, reduced_batch
from spark_jobs.apply.truncates.floors import Floors, family_of, floors_frame, names_source
from spark_jobs.sinks import Sink
from spark_jobs.spark_util.cache import cached
from spark_jobs.transforms import (
    DELETED,
    EXECUTE_POSITION,
    EXECUTE_TIME,
    KEY,
    ORDER,
    REAL_TABLE,
    TableSchema,
)

_FLOOR: Final = "floor_of_real_table"
_TRUNCATED: Final = "was truncated"
_OTHER_CASE: Final = (
    "under a name in another case than that of its copy: copy it with roma bootstrap --anew"
)
_UNKNOWN_ROWS: Final = (
    "and its copy has rows of which it does not know the real table: copy it with roma bootstrap "
    "--anew, and set "
    "message.headers = 'full' in the relay"
)


def empty_copies(sink: Sink, floors: Floors, writer: str) -> int:
    """Delete those rows of the copies that are older than the TRUNCATE of their real table; return
    their number.

    floors  (logical, real table) → order key of its newest TRUNCATE
    writer  name of the job

    A row is deleted under its own order key. The call can be repeated: a copy accepts a change with
    the same order key, and keeps a row that has become newer meanwhile.
    """
    return sum(
        _empty_copy(sink, table, of_table, writer) for table, of_table in _by_table(floors).items()
    )


def refused(sink: Sink, floors: Floors, what: str = _TRUNCATED) -> Mapping[tuple[str, str], str]:
    """Return the statements that the copies cannot follow: (logical, real table) → reason.

    floors  (logical, real table) → order key of its statement
    what    the statement in the text of the reason: a TRUNCATE (the default) or a rename

    A copy cannot follow a statement if it has older rows whose real table it does not store, or
    stores under another name than the statement: in other upper and lower case, or if only one of
    the two names contains the source of a group.
    """
    return {
        (table, real): f"{what} {reason}" if reason is _OTHER_CASE else f"{what}, {reason}"
        for table, of_table in _by_table(floors).items()
        for real, reason in _refused_in(sink, table, of_table).items()
    }


def _empty_copy(sink: Sink, table: str, floors: Floors, writer: str) -> int:
    copy = sink.read(table)
    if copy is None or REAL_TABLE not in copy.columns:
        return 0
    known = floors_frame(copy.sparkSession, floors).select(
        sf.col("real_table").alias(REAL_TABLE), sf.col("order").alias(_FLOOR)
    )
    below = (
        copy.where(~sf.col(DELETED))
        .join(sf.broadcast(known), REAL_TABLE)
        .where(sf.col(ORDER) < sf.col(_FLOOR))
    )
    with cached(_deletes(below, table)) as gone:
        count, newest = gone.agg(sf.count("*"), sf.max("order")).collect()[0]
        if count:
            contents = TableContents([TableSchema.of(None)], (), newest, count)
            sink.write(reduced_batch(gone, {table: contents}, writer, None))
    return int(count)


def _deletes(rows: DataFrame, table: str) -> DataFrame:
    """The rows of a copy as deletes without data, as a tombstone is one."""
    return rows.select(
        sf.lit(table).alias("table"),
        sf.col(KEY).alias("key"),
        sf.col(ORDER).alias("order"),
        sf.col(EXECUTE_TIME).alias("execute_time"),
        sf.col(EXECUTE_POSITION).alias("execute_position"),
        sf.lit(True).alias("deleted"),
        sf.create_map().cast("map<string,string>").alias("data"),
        sf.lit(None).cast("string").alias("mysql_types"),
        sf.col(REAL_TABLE).alias("real_table"),
    )


def _refused_in(sink: Sink, table: str, floors: Floors) -> Mapping[str, str]:
    """Real table → why its floor cannot be followed into the copy of a logical table."""
    names = [real for _, real in floors]
    copy = sink.read(table)
    if copy is None:
        return (
            dict.fromkeys(names, _OTHER_CASE)
            if table.lower() in map(str.lower, sink.tables())
            else {}
        )
    live = copy.where(~sf.col(DELETED))
    unnamed = live.where(sf.col(REAL_TABLE).isNull()) if REAL_TABLE in copy.columns else live
    oldest = unnamed.agg(sf.min(ORDER)).collect()[0][0]
    found = {
        real: _UNKNOWN_ROWS
        for (_, real), order in floors.items()
        if oldest is not None and oldest < order
    }
    return {**(_otherwise_named(live, floors) if REAL_TABLE in copy.columns else {}), **found}


def _otherwise_named(live: DataFrame, floors: Floors) -> Mapping[str, str]:
    """The same for older rows that the copy has under another name of, perhaps, the same real
    table.
    """
    known = floors_frame(live.sparkSession, floors).withColumnRenamed("order", _FLOOR)
    own, other = sf.col(REAL_TABLE), sf.col("real_table")
    alike = sf.lower(family_of(own)) == sf.lower(family_of(other))
    met = live.join(sf.broadcast(known), alike & (own != other)).where(
        sf.col(ORDER) < sf.col(_FLOOR)
    )
    of_group, other_case = (
        names_source(own) != names_source(other),
        sf.lower(own) == sf.lower(other),
    )
    rows = met.where(of_group | other_case).groupBy("real_table").agg(sf.max(of_group)).collect()
    return {real: _UNKNOWN_ROWS if unknown else _OTHER_CASE for real, unknown in rows}


def _by_table(floors: Floors) -> Mapping[str, dict[tuple[str, str], str]]:
    found: dict[str, dict[tuple[str, str], str]] = {}
    for place, order in floors.items():
        found.setdefault(place[0], {})[place] = order
    return found

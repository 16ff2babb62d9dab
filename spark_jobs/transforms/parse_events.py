"""Converts Kafka records into changes.

A message that cannot be applied gets a sentence in the column `problem`, so that it does not stop
the others. The expressions are the same for each batch and are made once: each of their parts is a
call to the JVM.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame

from relay.envelope import MessageType
from spark_jobs.transforms.message_keys import former_row, row_key
from spark_jobs.transforms.messages import PLACE, ROW_IMAGES, ROWS, parsed_messages, without_value
from spark_jobs.transforms.problems import TRUNCATE, problem_of_message, problem_of_row
from spark_jobs.transforms.typed_rows import Style

_IMAGE: Final = "struct<data: map<string,string>, old: map<string,string>>"
_CHANGE: Final = (
    *PLACE, "row", "key", "order", "execute_time", "execute_position", "table", "type", "deleted",
    "data", "mysql_types", "key_columns",
    "history", "problem", "value",
)  # fmt: skip


class Reader(NamedTuple):
    """The properties of a job that determine how it reads messages.

    style      how values show bytes
    topics     topics that the job reads: the marker of a table that moves to others is a problem;
               None: markers are omitted
    instances  whether the job must know which instance published a change
    """

    style: Style = "exact"
    topics: Sequence[str] | None = None
    instances: bool = False


_ANY_READER: Final = Reader()


def parse_events(
    records: DataFrame,
    *,
    raw_rule: bool = False,
    in_parts: bool = False,
    horizon_ms: int = 0,
    truncates: bool = False,
    renames: bool = False,
    reader: Reader = _ANY_READER,
) -> DataFrame:
    """Return one row per change, and one per message that cannot be applied.

    row              number of the row in its message
    key, order       the message key, and the order key as text; execute_time and
                     execute_position are its numbers
    data             map column → text; empty for a tombstone, which is a delete
    mysql_types      JSON text column → type; null for a tombstone
    history          whether it is a history row of a system-versioned table, which no copy has
    real_table       `instance/database.table` if the headers name both
    moved_from       the row (key, data) before an UPDATE that changed its key
    problem          why the message cannot be applied; null if it can, and for history rows
    value            the value of a message with a problem
    renamed          the header of that name of a statement that renames columns, otherwise null

    `records` come from the Kafka source with headers. The other columns are topic, partition,
    offset, timestamp, table, type, deleted and key_columns. DDL has no row, except for statements
    that empty a table.

    With `truncates`, a TRUNCATE whose headers name its real table and order is a row of type
    TRUNCATE without a key, and keeps its `value`. Without it, a TRUNCATE has a problem, and
    `real_table` is left out. With `renames`, which need `truncates`, an ALTER TABLE that renames
    columns is such a row too. With `reader.instances` the column `instance` has the header of that
    name, "" for messages without it.

    A change with an execute time below `horizon_ms` cannot be applied, because the copies may have
    removed the keys of rows that were deleted before that time. `in_parts`: row images may lack
    columns; without it, such a message has a problem. With `raw_rule` the order is the message's
    `es` and the raw binlog offset (messages of other programs: the Kafka offset) instead of the
    order key. That order is wrong on purpose, to show the difference.
    """
    messages = parsed_messages(records, reader.topics, raw_rule=raw_rule, renames=renames)
    problem = problem_of_message(
        raw_rule=raw_rule, in_parts=in_parts, truncates=truncates, renames=renames
    )
    judged = messages.withColumn("problem", problem)
    requested = {"real_table": truncates, "renamed": renames, "instance": reader.instances}
    further = tuple(name for name, is_wanted in requested.items() if is_wanted)
    told = _with_problems(
        with_pair(_rows_of(judged, further, reader.style)),
        problem_of_row(horizon_ms, in_parts=in_parts),
        _is_followed(renames=renames),
    )
    return told.select(*_CHANGE, *further, "moved_from")


def _rows_of(judged: DataFrame, further: tuple[str, ...], style: Style) -> DataFrame:
    """Return one row per row of a message. `further` are columns that the caller requested."""
    rows = judged.select("*", sf.posexplode(_images()).alias("number", "image"))
    return rows.select(*_row_columns(further, style))


@cache
def _row_columns(further: tuple[str, ...], style: Style) -> Sequence[Column | str]:
    return (
        *PLACE,
        sf.when(sf.col("problem").isNull(), sf.col("number")).alias("row"),
        sf.when(sf.col("problem").isNotNull(), sf.col("message_key"))
        .otherwise(row_key(style))
        .alias("key"),
        _row_order().alias("order"),
        "table",
        "type",
        (sf.col("type") == str(MessageType.DELETE)).alias("deleted"),
        sf.col("image.data").alias("data"),
        sf.col("event.mysqlType").alias("mysql_types"),
        sf.col("event.pkNames").alias("key_columns"),
        "history",
        *further,
        former_row(style).alias("moved_from"),
        "problem",
        "value",
    )


def rekeyed_rows(changes: DataFrame) -> DataFrame:
    """Return a delete of the old key for every UPDATE in one message that changed the key of its
    row.

    The result has the columns of `changes`.
    """
    moved = changes.where(sf.col("moved_from").isNotNull())
    former = {
        "key": sf.col("moved_from.key"),
        "data": sf.col("moved_from.data"),
        "deleted": sf.lit(True),
        "type": sf.lit(str(MessageType.DELETE)),
    }
    return moved.withColumns(former)


@cache
def _images() -> Column:
    """The row images of a message: one empty image for a problem, none for DDL. A filter would
    give the same result, but Spark pushes filters down to the source with copies of their
    inputs: values were parsed twice.
    """
    images = sf.arrays_zip(
        sf.col("event.data").alias("data"),
        sf.coalesce("event.old", sf.array().cast(ROW_IMAGES)).alias("old"),
    )
    problem = sf.array(sf.lit(None).cast(_IMAGE))
    nothing = sf.array(
        sf.struct(sf.create_map().alias("data"), sf.lit(None).alias("old")).cast(_IMAGE)
    )
    wanted = (
        sf.when(sf.col("problem").isNotNull(), problem)
        .when(without_value(), nothing)
        .when(sf.col("type").isin(*ROWS), images)
    )
    # A TRUNCATE that is not followed has a problem.
    wanted = wanted.when((sf.col("type") == TRUNCATE) | sf.col("renamed").isNotNull(), nothing)
    return wanted.otherwise(sf.array().cast(f"array<{_IMAGE}>"))


@cache
def _is_followed(*, renames: bool) -> Column:
    """Whether a row stands for a statement that the job follows."""
    is_truncate = sf.col("type") == TRUNCATE
    return is_truncate | sf.col("renamed").isNotNull() if renames else is_truncate


def _row_order() -> Column:
    """Return the order of one row among several: its position is the first one's plus its number
    in `orders`.
    """
    above = sf.try_element_at(sf.split("orders", ","), sf.col("number") + 1).try_cast("bigint")
    position = (sf.substring("own_order", 15, 19).try_cast("bigint") + above).cast("string")
    several = sf.concat(sf.substring("own_order", 1, 14), sf.lpad(position, 19, "0"))
    return sf.when(
        sf.col("orders").isNull() | (sf.col("order") != sf.col("own_order")), sf.col("order")
    ).otherwise(several)


def with_pair(changes: DataFrame) -> DataFrame:
    """Return the changes with two more columns, which are the numbers in the text of the order:
    execute_time (ms) and execute_position.

    Both are null if the text is not an order.
    """
    return changes.withColumns(_pair())


@cache
def _pair() -> dict[str, Column]:
    return {
        "execute_time": sf.substring("order", 1, 13).try_cast("bigint"),
        "execute_position": sf.substring("order", 15, 19).try_cast("bigint"),
    }


def _with_problems(changes: DataFrame, problem: Column, followed: Column) -> DataFrame:
    """Add the problems of rows, except those of `followed` statements, and keep the values of
    messages that may be quarantined.
    """
    of_row = sf.when(~followed, problem)
    told = changes.withColumn(
        "problem", sf.when(~sf.col("history"), sf.coalesce("problem", of_row))
    )
    return told.withColumn(
        "value", sf.when(sf.col("problem").isNotNull() | followed, sf.col("value"))
    )

"""Parses headers and values of Kafka records, without checking whether they can be applied.

The expressions are the same for each batch and are made once: each of their parts is a call to the
JVM.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame

from relay.envelope import ROW_TYPES, Header, MessageType
from spark_jobs.transforms.moved_tables import unfollowed_move

ROW_IMAGES: Final = "array<map<string,string>>"
"""The type of a message's row images: for each row, column → text."""
ROWS: Final = tuple(str(each) for each in ROW_TYPES)
"""Types of messages that contain rows."""
PLACE: Final = ("topic", "partition", "offset", "timestamp")
"""Columns with a message's coordinates in Kafka."""
_VALUE_SCHEMA: Final = (
    f"database string, table string, type string, isDdl boolean, sql string, es bigint, pkNames "
    f"array<string>, mysqlType string, "
    f"data {ROW_IMAGES}, old {ROW_IMAGES}"
)
_NO_COLUMN: Final = "[]"


def parsed_messages(
    records: DataFrame, topics: Sequence[str] | None, *, raw_rule: bool, renames: bool
) -> DataFrame:
    """Return one row per message. Markers of moved tables are omitted, unless this job does not
    read the table's new topic.

    topics    topics that the job reads; None: unknown
    raw_rule  whether tombstones are omitted
    renames   whether the column `renamed` has that header of a statement that renames columns;
              otherwise it is null
    """
    # The marker of a table that moved to another topic is no change (ADR 78).
    move = _move(None if topics is None else tuple(topics))
    wanted = records.withColumn("move", move).where(_is_wanted(raw_rule=raw_rule))
    messages = wanted.select(*_parsed_columns()).withColumns(_message_columns(raw_rule=raw_rule))
    return messages.withColumn("renamed", _renaming() if renames else _no_text())


@lru_cache(maxsize=4)
def _move(topics: tuple[str, ...] | None) -> Column:
    if topics is None:
        return _no_text()
    marker = _header(Header.MOVED)
    return sf.when(marker.isNotNull(), unfollowed_move(marker, sf.col("topic"), topics))


@cache
def _is_wanted(*, raw_rule: bool) -> Column:
    moved = sf.col("move").isNotNull()
    wanted = _header(Header.MOVED).isNull() | moved
    if raw_rule:  # a tombstone has no binlog time, so it cannot be ordered
        wanted &= sf.col("value").isNotNull() | sf.col("key").isNull() | moved
    return wanted


@cache
def _parsed_columns() -> Sequence[Column | str]:
    return (
        *PLACE,
        "move",
        sf.col("key").cast("string").alias("message_key"),
        _header(Header.ORDER).alias("own_order"),
        _header(Header.ORDERS).alias("orders"),
        _header(Header.SOURCE).alias("source"),
        _header(Header.CLAIM).isNotNull().alias("claimed"),
        _header(Header.DEAD_LETTER).isNotNull().alias("letter"),
        _header(Header.UNKNOWN).isNotNull().alias("lacking"),
        _header(Header.FAILED).isNotNull().alias("failed"),
        sf.concat(_header(Header.INSTANCE), sf.lit("/"), _header(Header.REAL)).alias("real_table"),
        sf.coalesce(_header(Header.INSTANCE), sf.lit("")).alias("instance"),
        _header(Header.HISTORY).isNotNull().alias("history"),
        _header(Header.RENAMED).alias("renamed_header"),
        sf.from_json(sf.col("value").cast("string"), _VALUE_SCHEMA).alias("event"),
        "value",
    )


@cache
def _message_columns(*, raw_rule: bool) -> dict[str, Column]:
    own = sf.col("own_order").isNotNull()
    named = sf.concat(sf.col("event.database"), sf.lit("."), sf.col("event.table"))
    return {
        "table": sf.when(without_value(), sf.get_json_object("message_key", "$[0]")).otherwise(
            named
        ),
        "type": sf.when(without_value(), str(MessageType.DELETE)).otherwise(sf.col("event.type")),
        "key": sf.when(own & sf.col("orders").isNull(), sf.col("message_key")),
        "order": _raw_order(own) if raw_rule else sf.col("own_order"),
    }


def _raw_order(own: Column) -> Column:
    """The binlog's raw time and offset, as `order` is written."""
    offset = sf.when(own, sf.substring_index("source", ":", -1).try_cast("bigint")).otherwise(
        sf.col("offset")
    )
    return sf.concat(
        sf.lpad(sf.col("event.es").cast("string"), 13, "0"),
        sf.lit("."),
        sf.lpad(offset.cast("string"), 19, "0"),
    )


@cache
def _no_text() -> Column:
    return sf.lit(None).cast("string")


@cache
def _renaming() -> Column:
    """Return the header of a statement that renames columns.

    Null for every other message, and if the header lists none.
    """
    return sf.when(
        ~sf.col("type").isin(*ROWS) & (sf.col("renamed_header") != _NO_COLUMN),
        sf.col("renamed_header"),
    )


def without_value() -> Column:
    """Return the condition for a tombstone of which compaction may have removed the delete's
    message, which has the same key and order.
    """
    return sf.col("value").isNull()


@cache
def _header(name: Header) -> Column:
    """The value of the first header of this name."""
    own = sf.filter("headers", lambda header: header["key"] == name.value)
    return sf.try_element_at(own, sf.lit(1))["value"].cast("string")

"""Finds the first reason why a message cannot be applied: a sentence with the table and the
remedy.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column

from relay.envelope import ROW_TYPES, MessageType
from spark_jobs.transforms.guards import GUARDS

NO_SOURCE: Final = "the raw rule needs the source header, which the message lacks"
"""A reason that ends the job, because all messages of the topic lack the header: without it the
job could not order changes by the raw rule.
"""
OTHER_FORMAT: Final = "the value is a message of the relay in another format than canal-json"
"""A reason that ends the job, because no copy can be made from the topic."""

_IN_PARTS: Final = (
    "comes with partial row images, and the job does not guess the missing columns: set "
    "binlog_row_image=FULL on the source, or row_images = 'merge' in the job"
)
_ORDER_PATTERN: Final = r"^\d{13}\.\d{19}$"
_ROWS_WITHOUT_LOG: Final = (
    r"(?is)\b(DROP|TRUNCATE|EXCHANGE)\s+PARTITION\b"
    r"|\b(DISCARD|IMPORT)\s+(PARTITION\b.*)?TABLESPACE\b"
)
_MAY_RENAME: Final = r"(?is)\bALTER\b.*\b(CHANGE|RENAME\s+COLUMN)\b"
_MAXWELL_TYPE: Final = r"^(insert|update|delete|query|(table|database)-[a-z]+)$"
_ANEW: Final = "copy it with roma bootstrap --anew"
_PRIMARY_KEY: Final = r"(?i)\bPRIMARY\s+KEY\b"
_EMPTIED: Final = "was truncated or dropped, which its copy does not follow: it keeps the rows"
_RENAMED: Final = "was renamed, which copies do not follow: each keeps the rows of its own name"
_DROPS_DATABASE: Final = r"(?is)^\s*(/\*.*?\*/\s*)*DROP\s+(DATABASE|SCHEMA)\b"
_DROPPED: Final = " was dropped, which copies do not follow: they keep the rows of its tables"
_QUOTED: Final = 200
"""So many characters of a statement are quoted in a reason."""
_ALTERING: Final = tuple(
    str(each) for each in (MessageType.ALTER, MessageType.CINDEX, MessageType.DINDEX)
)
TRUNCATE: Final = str(MessageType.TRUNCATE)
_ROWS: Final = tuple(str(each) for each in ROW_TYPES)
_TYPES: Final = tuple(str(each) for each in MessageType)


@cache
def problem_of_message(
    *, raw_rule: bool, in_parts: bool, truncates: bool = False, renames: bool = False
) -> Column:
    """Return the Spark expression for a reason that applies to all rows of a message; null if there
    is none.

    It uses the columns that `parse_events` adds. The parameters are those of `parse_events`.
    """
    is_row = sf.col("type").isin(*_ROWS)
    own = sf.col("own_order").isNotNull()
    unordered = sf.col("order").isNull() | ~sf.col("order").rlike(_ORDER_PATTERN)
    unreadable = (
        "its es or its source is unreadable"
        if raw_rule
        else "the order header is missing or unreadable"
    )
    reason = _of_value(raw_rule=raw_rule)
    if raw_rule:
        reason = reason.when(is_row & own & sf.col("source").isNull(), NO_SOURCE)
    reason = reason.when((is_row | own) & unordered, unreadable)
    for condition, sentence in (
        *_kept_back(is_row, in_parts=in_parts),
        *(_unfollowed() if truncates else ()),
        *_statements(truncates=truncates),
        *(_unrenamed() if renames else ()),
    ):
        reason = reason.when(condition, _of_table(sentence))
    drops_all = sf.col("event.isDdl") & sf.col("event.sql").rlike(_DROPS_DATABASE)
    reason = reason.when(
        sf.coalesce(drops_all, sf.lit(False)),
        sf.concat(sf.lit("database "), sf.col("event.database"), sf.lit(_DROPPED)),
    )
    return _with_row_count(reason, is_row)


def _of_value(*, raw_rule: bool) -> Column:
    """Return why the record is not a message of the relay, or None for a history row, which is
    not applied.
    """
    known = sf.col("table").isNotNull() & sf.col("type").isin(*_TYPES)
    empty = sf.col("value").isNull()
    return (
        sf.when(sf.col("move").isNotNull(), sf.col("move"))
        .when(empty & sf.col("message_key").isNull(), "the record has neither key nor value")
        .when(
            empty & sf.col("own_order").isNull() & ~sf.lit(raw_rule),
            "the record has no value and no order header",
        )
        .when(~sf.coalesce(known, sf.lit(False)) & _is_of_other_format(), OTHER_FORMAT)
        .when(~sf.coalesce(known, sf.lit(False)), "the value is not a message of the relay")
        .when(sf.col("history"), None)
    )


def _is_of_other_format() -> Column:
    """Return whether the value contains the text of its order header, as all formats do except
    canal-json and maxwell-json, or has an order header and one of Maxwell's types.
    """
    text = sf.decode("value", "ISO-8859-1")
    has_order_inside = sf.contains(text, sf.col("own_order"))
    is_maxwell = sf.col("own_order").isNotNull() & sf.col("type").rlike(_MAXWELL_TYPE)
    return sf.coalesce(has_order_inside | is_maxwell, sf.lit(False))


def _kept_back(is_row: Column, *, in_parts: bool) -> Iterator[tuple[Column, str]]:
    """Yield the reasons why the message lacks some of its rows or values."""
    yield (
        is_row & sf.col("claimed"),
        (
            "has a value that was too large for Kafka (claim check), which the jobs do not "
            "fetch: its copy lacks that change"
        ),
    )
    yield is_row & sf.col("lacking") & ~sf.lit(in_parts), _IN_PARTS
    yield (
        sf.col("letter"),
        "had a row that became a dead letter, so its copy may be wrong until that is sent",
    )
    yield (
        (sf.col("type") == "QUERY") & ~sf.coalesce(sf.col("event.isDdl"), sf.lit(False)),
        "was changed by a statement that the source logged as text, so its copy may be wrong",
    )


def _with_row_count(reason: Column, is_row: Column) -> Column:
    """The reason, or else that the number of rows is not that of the orders."""
    rows = sf.coalesce(sf.size("event.data"), sf.lit(0))
    return reason.when(
        is_row & (rows == 0) & sf.col("value").isNotNull(), "the message has no row"
    ).when(
        is_row & sf.col("orders").isNotNull() & (sf.size(sf.split("orders", ",")) != rows),
        "the orders header does not match the message's rows",
    )


_NO_KEY: Final = "has no key, so it has no copy: give it a primary key or a unique NOT NULL key"
_UNBUILT_KEY: Final = (
    "has a key that the values of a packed message do not show (bytes, numbers of labels, a "
    f"missing column): set message.rows_per_message = 'row' in the relay, and {_ANEW}"
)
_UNBUILT_FORMER_KEY: Final = (
    "had its key changed in one message, whose values do not show the former key: set "
    f"message.key_change = 'split' in the relay, and {_ANEW}"
)
TOO_LATE: Final = (
    "has a change that came later than deleted keys are remembered (guards_days), so it cannot be "
    "compared with a delete of its key"
)
_GUARD_NAME: Final = (
    f"has a column named like a guard of the copy ({', '.join(GUARDS)}), so it has no copy: rename "
    f"the column"
)


def _has_guard_name() -> Column:
    names = sf.transform(sf.map_keys("data"), sf.lower)
    return sf.arrays_overlap(names, sf.array(*map(sf.lit, GUARDS)))


@lru_cache(maxsize=4)
def problem_of_row(horizon_ms: int, *, in_parts: bool) -> Column:
    """Return the Spark expression for a reason that applies to one row; null if it can be applied.

    The parameters are those of `parse_events`.
    """
    without_key = (
        (sf.col("type") == "UPDATE")
        & sf.coalesce(sf.size("key_columns") <= 0, sf.lit(True))
        & sf.col("mysql_types").isNotNull()
    )
    reason = sf.when(sf.col("data").isNull(), "the message has no row")
    for condition, sentence in _without_keys():
        reason = reason.when(condition, _of_table(sentence))
    return (
        reason.when(sf.col("order").isNull(), "the orders header is unreadable")
        .when(sf.col("execute_position").isNull(), "the order header is beyond 63 bits")
        .when(sf.col("execute_time") < horizon_ms, _of_table(TOO_LATE))
        .when(_has_guard_name(), _of_table(_GUARD_NAME))
        .when(without_key & ~sf.lit(in_parts), _of_table(_IN_PARTS))
    )


def _without_keys() -> Iterator[tuple[Column, str]]:
    """Yield the reasons why the key of a row, or its former key, is unknown."""
    unknown, former = sf.col("key").isNull(), sf.col("moved_from")
    yield unknown & (sf.size("key_columns") > 0), _UNBUILT_KEY
    yield unknown, _NO_KEY
    yield former.isNotNull() & former["key"].isNull(), _UNBUILT_FORMER_KEY


def _unfollowed() -> Iterator[tuple[Column, str]]:
    """Yield the reasons why a TRUNCATE cannot be followed, from its own message."""
    truncate = sf.col("type") == TRUNCATE
    yield (
        truncate & sf.col("failed"),
        (
            "was truncated by a statement that ended with an error on its source, so it is "
            "unknown whether the rows were deleted"
        ),
    )
    named = sf.col("real_table").isNotNull() & sf.col("own_order").isNotNull()
    yield (
        truncate & ~named,
        (
            "was truncated, and the message does not name the real table: set message.headers = "
            "'full' in the relay"
        ),
    )


def _unrenamed() -> Iterator[tuple[Column, str]]:
    """Yield the reasons why renamed columns cannot be followed, from the statement's own
    message.
    """
    told, header = sf.col("renamed").isNotNull(), sf.col("renamed")
    names = sf.from_json(header, "array<struct<old: string, new: string, if_exists: boolean>>")
    readable = sf.forall(names, lambda each: each["old"].isNotNull() & each["new"].isNotNull())
    yield (
        told & sf.col("failed"),
        (
            "had columns renamed by a statement that ended with an error on its source, so it "
            "is unknown which names they have"
        ),
    )
    yield (
        told & sf.col("real_table").isNull(),
        "had columns renamed, and the message does not name the real table",
    )
    yield (
        told & ~sf.coalesce(readable, sf.lit(False)),
        "had columns renamed, and the message's renamed header is unreadable",
    )
    conditional = sf.exists(names, lambda each: sf.coalesce(each["if_exists"], sf.lit(False)))
    yield (
        told & conditional,
        f"may have had columns renamed (IF EXISTS), which the message does not contain: {_ANEW}",
    )
    yield _untold()


def _untold() -> tuple[Column, str]:
    untold = (
        sf.col("renamed_header").isNull()
        & sf.coalesce(sf.col("event.isDdl"), sf.lit(False))
        & ~sf.col("type").isin(*_ROWS)
    )
    return (
        untold & sf.col("event.sql").rlike(_MAY_RENAME),
        (
            f"may have had columns renamed, which the message does not contain: set "
            f"message.headers = 'full' in the relay, and {_ANEW}"
        ),
    )


def _statements(*, truncates: bool) -> Iterator[tuple[Column, str | Column]]:
    """Yield the effects of DDL on rows that the binlog does not contain.

    The message of a statement on several tables has the name of one, so the reason quotes it. The
    type of an ALTER TABLE is that of its first item.
    """
    alters, sql = sf.col("type") == str(MessageType.ALTER), sf.col("event.sql")
    quoted = sf.concat(sf.lit(" ("), sf.substring(sql, 1, _QUOTED), sf.lit(")"))
    others = sf.when(sf.contains(sql, sf.lit(",")), quoted).otherwise("")
    emptying = ("ERASE",) if truncates else (TRUNCATE, "ERASE")
    yield (
        sf.col("type").isin(*emptying),
        sf.concat(sf.lit(_EMPTIED), others),
    )
    yield (
        sf.col("type") == str(MessageType.RENAME),
        sf.concat(sf.lit(_RENAMED), others),
    )
    yield (
        alters & sql.rlike(_ROWS_WITHOUT_LOG),
        "lost or got the rows of a partition, which its copy does not follow",
    )
    yield (
        sf.col("type").isin(*_ALTERING) & sql.rlike(_PRIMARY_KEY),
        "got another primary key: its copy keeps rows under their former keys",
    )


def _of_table(sentence: str | Column) -> Column:
    said = sf.lit(sentence) if isinstance(sentence, str) else sentence
    return sf.concat(sf.lit("table "), sf.col("table"), sf.lit(" "), said)

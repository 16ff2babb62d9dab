"""Kafka records → changes. What cannot be applied gets a sentence instead, so that one poison message stops nothing."""

from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame

from relay.envelope import ROW_TYPES, Header, MessageType
from spark_jobs.transforms.guards import GUARDS

_VALUE_SCHEMA: Final = "database string, table string, type string, isDdl boolean, data array<map<string,string>>"
_ORDER_PATTERN: Final = r"^\d{13}\.\d{19}$"
_ROWS: Final = tuple(str(each) for each in ROW_TYPES)
_TYPES: Final = tuple(str(each) for each in MessageType)


def parse_events(records: DataFrame) -> DataFrame:
    """Return one row per message that has a value.

    Columns: topic, partition, offset, timestamp, key, order, execute_time, execute_position, table, type, deleted, data, problem, value.
    `problem` is null for a change that can be applied; `value` is there only where it is not. `records` come from the Kafka source with
    headers. DDL has no row here, but for what empties a table.
    """
    place = ("topic", "partition", "offset", "timestamp", "key", "order")
    parsed = records.where(sf.col("value").isNotNull()).select(
        "topic",
        "partition",
        "offset",
        "timestamp",
        sf.col("key").cast("string").alias("key"),
        _header(Header.ORDER).alias("order"),
        _header(Header.ORDERS).isNotNull().alias("packed"),
        _header(Header.CLAIM).isNotNull().alias("claimed"),
        _header(Header.DEAD_LETTER).alias("letter"),
        sf.from_json(sf.col("value").cast("string"), _VALUE_SCHEMA).alias("event"),
        "value",
    )
    changes = parsed.select(
        *place,
        sf.substring("order", 1, 13).cast("bigint").alias("execute_time"),
        sf.substring("order", 15, 19).cast("bigint").alias("execute_position"),
        sf.concat(sf.col("event.database"), sf.lit("."), sf.col("event.table")).alias("table"),
        sf.col("event.type").alias("type"),
        sf.coalesce(sf.col("event.isDdl"), sf.lit(False)).alias("is_ddl"),
        (sf.col("event.type") == "DELETE").alias("deleted"),
        sf.col("event.data").alias("rows"),
        "packed",
        "claimed",
        "letter",
        "value",
    ).withColumn("problem", _problem())
    wanted = changes.where(sf.col("problem").isNotNull() | sf.col("type").isin(*_ROWS))
    bad_value = sf.when(sf.col("problem").isNotNull(), sf.col("value")).alias("value")
    data = sf.try_element_at("rows", sf.lit(1)).alias("data")
    return wanted.select(*place, "execute_time", "execute_position", "table", "type", "deleted", data, "problem", bad_value)


def _header(name: Header) -> Column:
    """The value of the first header of this name."""
    own = sf.filter("headers", lambda header: header["key"] == name.value)
    return sf.try_element_at(own, sf.lit(1))["value"].cast("string")


def _problem() -> Column:
    """The first reason why the message cannot be applied; a table that is refused is named, with what its owner can do."""
    is_row = sf.col("type").isin(*_ROWS)
    known = sf.col("table").isNotNull() & sf.col("type").isin(*_TYPES)
    names = sf.map_keys(sf.try_element_at("rows", sf.lit(1)))
    return (
        sf.when(~sf.coalesce(known, sf.lit(False)), "the value is not a message of the relay")
        .when(is_row & sf.col("packed"), _of_table("comes with several rows a message; set message.rows_per_message = 'row' in the relay"))
        .when(sf.col("order").isNull() | ~sf.col("order").rlike(_ORDER_PATTERN), "the order header is missing or unreadable")
        .when(
            is_row & sf.col("claimed"),
            _of_table("has a value that was too large for Kafka (claim check), which the jobs do not fetch: its copy lacks that change"),
        )
        .when(
            sf.col("letter").isNotNull(),
            _of_table("had a row kept back as a dead letter, so its copy is unproven until that is sent"),
        )
        .when(
            (sf.col("type") == "QUERY") & ~sf.col("is_ddl"),
            _of_table("was changed by a statement that the source logged as text, so its copy is unproven"),
        )
        .when(
            sf.col("type").isin("TRUNCATE", "ERASE"),
            _of_table("was truncated or dropped, which its copy does not follow: it keeps the rows"),
        )
        .when(is_row & (sf.coalesce(sf.size("rows"), sf.lit(0)) != 1), "the message has not one row")
        .when(is_row & sf.col("key").isNull(), _of_table("has no key, so it has no copy: give it a primary key or a unique NOT NULL key"))
        .when(
            is_row & sf.arrays_overlap(sf.transform(names, sf.lower), sf.array(*map(sf.lit, GUARDS))),
            _of_table(f"has a column named like a guard of the copy ({', '.join(GUARDS)}), so it has no copy: rename the column"),
        )
    )


def _of_table(sentence: str) -> Column:
    return sf.concat(sf.lit("table "), sf.col("table"), sf.lit(f" {sentence}"))

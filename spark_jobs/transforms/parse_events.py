"""Kafka records → changes. What cannot be read gets a reason instead, so that one poison message stops nothing."""

from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame

from relay.envelope import Header

_VALUE_SCHEMA: Final = "database string, table string, type string, data array<map<string,string>>"
_ORDER_PATTERN: Final = r"^\d{13}\.\d{19}$"
_ROW_TYPES: Final = ("INSERT", "UPDATE", "DELETE")


def parse_events(records: DataFrame) -> DataFrame:
    """Return one row per message that has a value: table, key, order, execute_time, execute_position, deleted, type, data, and problem.

    `problem` is null for a change that can be applied. `records` come from the Kafka source with headers. DDL has no row here.
    """
    parsed = records.where(sf.col("value").isNotNull()).select(
        "topic",
        "partition",
        "offset",
        sf.col("key").cast("string").alias("key"),
        _order_header().alias("order"),
        sf.from_json(sf.col("value").cast("string"), _VALUE_SCHEMA).alias("event"),
        "value",
    )
    return (
        parsed.select(
            "topic",
            "partition",
            "offset",
            "value",
            "key",
            "order",
            sf.substring("order", 1, 13).cast("bigint").alias("execute_time"),
            sf.substring("order", 15, 19).cast("bigint").alias("execute_position"),
            sf.concat_ws(".", "event.database", "event.table").alias("table"),
            sf.col("event.type").alias("type"),
            (sf.col("event.type") == "DELETE").alias("deleted"),
            sf.element_at("event.data", 1).alias("data"),
        )
        .withColumn("problem", _problem())
        .where(sf.col("problem").isNotNull() | sf.col("type").isin(*_ROW_TYPES))
    )


def _order_header() -> Column:
    """The value of the first `order` header."""
    own = sf.filter("headers", lambda header: header["key"] == Header.ORDER.value)
    return sf.try_element_at(own, sf.lit(1))["value"].cast("string")


def _problem() -> Column:
    is_row = sf.col("type").isin(*_ROW_TYPES)
    return (
        sf.when(sf.col("type").isNull(), "the value is not a message of the relay")
        .when(sf.col("order").isNull() | ~sf.col("order").rlike(_ORDER_PATTERN), "the order header is missing or unreadable")
        .when(is_row & sf.col("data").isNull(), "the message has no row")
        .when(sf.col("type") == "QUERY", "the change was logged as a statement, the copy of its table is unproven")
        .when(is_row & sf.col("key").isNull(), "the table has no key, so its rows cannot be told apart")
    )

"""Reads rows of a shard in the form of messages: exact text by column, and the key as JSON."""

import json
from collections.abc import Mapping, Sequence

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame

from relay.model.number_form import single_text
from relay.model.source_rows.columns import BLOBS, SourceColumn
from relay.model.source_rows.texts import message_text, single_value, whole_single
from spark_jobs.origin.database import SourceDatabase
from spark_jobs.origin.key_ranges import table_of
from spark_jobs.origin.row_rules import published_rows
from spark_jobs.origin.shard import Shard
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.spark_util.json_text import json_text


def message_rows(database: SourceDatabase, shard: Shard, where: str) -> DataFrame:
    """Return the rows for which `where` (SQL) is true, as the relay publishes them.

    Columns: table, key, data (map column → text), mysql_types.
    """
    columns = shard.published
    texts = _texts(database, shard, where)
    rows = texts if shard.rules is None else published_rows(texts, shard.rules)
    values = [
        sf.col(f"c{number}") if shard.rules is None else sf.col("row")[number]
        for number in range(len(columns))
    ]
    key = _key_values(
        shard, {column.name: value for column, value in zip(columns, values, strict=True)}
    )
    names = sf.array(*(sf.lit(column.name) for column in columns))
    return rows.select(
        sf.lit(shard.logical).alias("table"),
        key_text(shard, key).alias("key"),
        sf.map_from_arrays(names, sf.array(*values)).alias("data"),
        sf.lit(shard.mysql_types).alias("mysql_types"),
    )


def published_keys(database: SourceDatabase, shard: Shard, where: str) -> DataFrame:
    """Return the message keys, as the column `key`, of the rows for which `where` (SQL) is true
    and that the rules accept.
    """
    if shard.rules is not None and shard.rules.decides_keys:
        return message_rows(database, shard, where).select("key")
    return message_keys(database, shard, where)


def message_keys(
    database: SourceDatabase, shard: Shard, where: str, beside: Mapping[str, str] | None = None
) -> DataFrame:
    """Return the message keys of the rows for which `where` (SQL) is true, as the column `key`.

    Rules are not applied. `beside` are further columns of the result: name → SQL.
    """
    more = beside or {}
    texts = [
        f"{_text_in_key(shard, column)} AS c{number}" for number, column in enumerate(shard.key)
    ]
    selected = ", ".join([*texts, *(f"{sql} AS {quoted(name)}" for name, sql in more.items())])
    rows = database.query(f"SELECT {selected} FROM {table_of(shard)} WHERE {where}")
    values = [
        _in_key(shard, column, sf.col(f"c{number}")) for number, column in enumerate(shard.key)
    ]
    return rows.select(key_text(shard, values).alias("key"), *more)


def _texts(database: SourceDatabase, shard: Shard, where: str) -> DataFrame:
    """The columns as `c0`, `c1` and so on, then the further values for rules. Blobs are read as
    bytes: the base64 of a large one would exceed the server's longest text, and become NULL.
    """
    own = [
        quoted(column.name) if column.kind in BLOBS else message_text(column)
        for column in shard.columns
    ]
    selected = [*own, *(() if shard.rules is None else shard.rules.exact_values)]
    names = ", ".join(
        [*(f"{sql} AS c{number}" for number, sql in enumerate(selected)), *_longer_keys(shard)]
    )
    rows = database.query(f"SELECT {names} FROM {table_of(shard)} WHERE {where}")
    blobs = [f"c{number}" for number, column in enumerate(shard.columns) if column.kind in BLOBS]
    return rows.withColumns({name: sf.base64(name) for name in blobs})


def _longer_keys(shard: Shard) -> list[str]:
    """Return the SQL of further values for the key, as `k0`, `k1` and so on.

    Rules receive the whole values, and return the texts for the key after those of the row.
    """
    if shard.rules is not None:
        return []
    columns = enumerate(shard.key)
    return [
        f"{whole_single(column)} AS k{number}"
        for number, column in columns
        if shard.is_longer_in_key(column)
    ]


def _key_values(shard: Shard, by_name: Mapping[str, Column]) -> list[Column]:
    """The texts of the key's columns, of rows that `_texts` or rules gave."""
    if shard.rules is not None:
        behind = {
            name: sf.col("row")[len(shard.published) + at]
            for at, name in enumerate(shard.rules.longer_in_key)
        }
        return [behind.get(name, by_name[name]) for name in shard.key_names]
    return [
        _in_key(shard, column, sf.col(f"k{number}"))
        if shard.is_longer_in_key(column)
        else by_name[column.name]
        for number, column in enumerate(shard.key)
    ]


def _text_in_key(shard: Shard, column: SourceColumn) -> str:
    return whole_single(column) if shard.is_longer_in_key(column) else message_text(column)


def _in_key(shard: Shard, column: SourceColumn, text: Column) -> Column:
    """Return the value in the message key for a text of `_text_in_key`."""
    return sf.udf(_single, "string")(text) if shard.is_longer_in_key(column) else text


def _single(text: str | None) -> str | None:
    """The relay's own text of a FLOAT in a key."""
    return None if text is None else single_text(single_value(text))


def key_text(shard: Shard, values: Sequence[Column]) -> Column:
    """Return the Spark expression for the message key: the relay's own JSON, byte for byte.

    `values` are the exact texts of the key's columns.
    """
    names = [shard.logical, *([str(shard.real)] if shard.shard_in_key else [])]
    begin = json.dumps(names, ensure_ascii=False, separators=(",", ":")).removesuffix("]")
    return sf.concat_ws(
        ",",
        sf.lit(begin),
        *(json_text(value) for value in values[:-1]),
        sf.concat(json_text(values[-1]), sf.lit("]")),
    )

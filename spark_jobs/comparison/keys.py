"""Computes the text of a row's key on both sides, and converts it back into values."""

from collections.abc import Mapping, Sequence
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column
from pyspark.sql.types import DataType

from relay.model.source_rows.columns import TEXTS
from spark_jobs.comparison.canonical import copy_row_text, source_row_text
from spark_jobs.origin.shard import Shard
from spark_jobs.transforms.guards import KEY

_PREFIX: Final = "{}:{}"


def source_key(shard: Shard) -> str:
    """Return the SQL expression for the text of a row's key: the canonical text of the key's
    columns.

    If the message key contains the real table (`key_scope = "shard"`), the text begins with the
    name of the real table.
    """
    return (
        f"CONCAT({_utf8(_prefix(shard))}, {source_row_text(shard.key)})"
        if shard.shard_in_key
        else source_row_text(shard.key)
    )


def copy_key(shard: Shard, kinds: Mapping[str, DataType]) -> Column:
    """Return the Spark expression for the text of a row's key in the copy; equal to `source_key`.

    `kinds` has the types of the copy's columns, by name in lower case.
    """
    text = copy_row_text(shard.published_key, kinds)
    if not shard.shard_in_key:
        return text
    name = sf.get_json_object(sf.col(KEY), "$[1]")
    return sf.concat(sf.octet_length(name).cast("string"), sf.lit(":"), name, text)


def boundary_of(shard: Shard, key: str) -> Sequence[str] | None:
    """Return the key values in `key`, in the form that boundaries of key ranges have.

    In this form, texts and bytes are the hexadecimal digits of their UTF-8 bytes; other values are
    unchanged. `key` is the text of a key, as `source_key` and `copy_key` compute it. Returns None
    if `key` is empty (the key is unknown), and if it names the real table of another shard.
    """
    if not key:
        return None
    values = _split(key)
    if shard.shard_in_key:
        if values[0] != str(shard.real):
            return None
        values = values[1:]
    kinds = [column.kind for column in shard.key]
    return [
        value.encode().hex().upper() if kind in TEXTS else value
        for value, kind in zip(values, kinds, strict=True)
    ]


def _split(key: str) -> list[str]:
    """`1:a2:bc` → a, bc; lengths count bytes."""
    raw, values = key.encode(), []
    while raw:
        length, _, rest = raw.partition(b":")
        values.append(rest[: int(length)].decode())
        raw = rest[int(length) :]
    return values


def _prefix(shard: Shard) -> str:
    name = str(shard.real)
    return _PREFIX.format(len(name.encode()), name)


def _utf8(text: str) -> str:
    return f"_utf8mb4 X'{text.encode().hex()}'"

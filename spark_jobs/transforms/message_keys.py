"""Builds keys that messages do not have: those of each row of a packed message, and the former key
of an UPDATE that changed it. A key is null if the values that form it are not in the message.
"""

from functools import cache
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column

from spark_jobs.spark_util.json_text import json_text
from spark_jobs.transforms.typed_rows import Style

_UNDECODABLE: Final = "\ufffd"
"""Replaces bytes in values that are invalid in their character set. Keys contain the bytes."""
_OTHER_IN_CANAL: Final = (
    r"(?i)binary|blob|zerofill|^(enum|set|float|double|real|decimal|dec|numeric|uuid|inet)"
)
"""Types whose text in Canal's style is not that of keys."""
_LONGER_IN_KEYS: Final = r"(?i)^float"
"""A FLOAT has more digits in keys than in values. Tables with one in their key are not packed."""
_MOST_BEFORE_VALUES: Final = 2
"""Elements of a key before its values: the logical table, and the real one (`key_scope`)."""


@cache
def row_key(style: Style) -> Column:
    """Return the Spark expression for the key of a row.

    That is the message's key, or for a packed message the key that a separate message of the row
    would have.
    """
    names, data = sf.col("event.pkNames"), sf.col("image.data")
    built = _key_text(sf.array("table"), _values(names, data))
    if style == "canal":
        built = sf.when(~_has_type(names, _OTHER_IN_CANAL), built)
    return sf.coalesce("key", built)


@cache
def former_row(style: Style) -> Column:
    """Return the Spark expression for the row (key, data) before an UPDATE that changed a value of
    the key; null for other changes.

    Canal's `old` can contain columns that only another row of the message changed.
    """
    names, data, old = sf.col("event.pkNames"), sf.col("image.data"), sf.col("image.old")
    changed = sf.exists(
        names, lambda name: sf.map_contains_key(old, name) & ~data[name].eqNullSafe(old[name])
    )
    former = sf.map_concat(
        sf.map_filter(data, lambda name, _: ~sf.map_contains_key(old, name)), old
    )
    key = _former_key(names, data, former, style)
    return sf.when(old.isNotNull() & changed, sf.struct(key.alias("key"), former.alias("data")))


def _former_key(names: Column, data: Column, former: Column, style: Style) -> Column:
    """The key of a former row, after the first elements of the message's own key.

    The row's present values must give that key: otherwise keys have other texts.
    """
    own = sf.col("message_key")
    parts = sf.from_json(own, "array<string>")
    before = sf.size(parts) - sf.size(names)
    first = sf.when(
        before.between(1, _MOST_BEFORE_VALUES), sf.slice(parts, 1, sf.greatest(before, sf.lit(0)))
    )
    unlike = _LONGER_IN_KEYS if style == "exact" else _OTHER_IN_CANAL
    alike = (_key_text(first, _values(names, data)) == own) & ~_has_type(names, unlike)
    packed = _key_text(sf.array("table"), _values(names, former))
    if style == "canal":
        packed = sf.when(~_has_type(names, _OTHER_IN_CANAL), packed)
    return sf.when(own.isNull(), packed).when(alike, _key_text(first, _values(names, former)))


def _values(names: Column, row: Column) -> Column:
    return sf.transform(names, lambda name: row[name])


def _key_text(first: Column, values: Column) -> Column:
    """A JSON array; null without values, or where one is missing or undecodable."""
    known = sf.forall(
        values, lambda value: value.isNotNull() & ~sf.contains(value, sf.lit(_UNDECODABLE))
    )
    texts = sf.array_join(sf.transform(sf.concat(first, values), json_text), ",")
    return sf.when((sf.size(values) > 0) & known, sf.concat(sf.lit("["), texts, sf.lit("]")))


def _has_type(names: Column, pattern: str) -> Column:
    """Return whether a column of the key has such a type. False for a message without types."""
    types = sf.from_json("event.mysqlType", "map<string,string>")
    return sf.exists(names, lambda name: sf.coalesce(types[name].rlike(pattern), sf.lit(False)))

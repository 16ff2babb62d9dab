"""Writes JSON strings in Spark exactly as the relay writes them."""

import json
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column

_ESCAPES: Final = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_CONTROL: Final = {chr(code): f"\\u{code:04x}" for code in range(0x20)}
_ESCAPED: Final = json.dumps({"\\": "\\\\", '"': '\\"', **_CONTROL, **_ESCAPES})
"""One text, because an expression for each character took most of a batch's planning."""


def json_text(text: Column) -> Column:
    """Return the Spark expression for a JSON string, byte for byte as the relay writes it in
    message keys.

    Spark's `to_json` writes other texts: its escapes have capital hexadecimal digits.
    """
    escapes = sf.from_json(sf.lit(_ESCAPED), "map<string,string>")
    characters = sf.regexp_extract_all(text, sf.lit("(?s)."), sf.lit(0))
    escaped = sf.array_join(
        sf.transform(characters, lambda each: sf.coalesce(sf.try_element_at(escapes, each), each)),
        "",
    )
    return sf.concat(
        sf.lit('"'), sf.when(text.rlike(r'[\x00-\x1f"\\]'), escaped).otherwise(text), sf.lit('"')
    )

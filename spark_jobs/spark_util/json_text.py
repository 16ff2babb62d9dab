"""JSON strings as the relay writes them."""

from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column

_ESCAPES: Final = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_CONTROL: Final = {chr(code): f"\\u{code:04x}" for code in range(0x20)}
_ESCAPED: Final = {"\\": "\\\\", '"': '\\"', **_CONTROL, **_ESCAPES}


def json_text(text: Column) -> Column:
    """Return a JSON string, byte for byte as the relay writes it in message keys.

    Spark's `to_json` writes other texts: its escapes have capital hexadecimal digits.
    """
    escapes = sf.create_map(*(sf.lit(each) for pair in _ESCAPED.items() for each in pair))
    characters = sf.regexp_extract_all(text, sf.lit("(?s)."), sf.lit(0))
    escaped = sf.array_join(
        sf.transform(characters, lambda each: sf.coalesce(sf.try_element_at(escapes, each), each)),
        "",
    )
    return sf.concat(
        sf.lit('"'), sf.when(text.rlike(r'[\x00-\x1f"\\]'), escaped).otherwise(text), sf.lit('"')
    )

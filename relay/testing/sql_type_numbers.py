"""Returns the number in the field `sqlType` for the text of a column's type (style `exact`)."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_WORD: Final = re.compile(r"[a-z]+[0-9]?", re.ASCII)
_UNSIGNED: Final = re.compile(r"\bunsigned\b", re.ASCII)
_NUMBERS: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys(("float",), 7),
        **dict.fromkeys(("double", "real"), 8),
        **dict.fromkeys(("decimal", "numeric"), 3),
        **dict.fromkeys(("varchar", "enum", "set", "year", "json"), 12),
        **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), 2005),
        **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob", "vector"), 2004),
        **dict.fromkeys(("binary", "varbinary", "geometry", "point", "linestring"), 2004),
        **dict.fromkeys(("polygon", "multipoint", "multilinestring", "multipolygon"), 2004),
        **dict.fromkeys(("geometrycollection", "geomcollection"), 2004),
        **dict.fromkeys(("datetime", "timestamp"), 93),
        "bit": -7,
        "char": 1,
        "date": 91,
        "time": 92,
        "uuid": 12,
        "inet4": 12,
        "inet6": 12,
    }
)
_INTEGERS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "tinyint": (-6, 5),
        "smallint": (5, 4),
        "mediumint": (4, 4),
        "int": (4, -5),
        "integer": (4, -5),
        "bigint": (-5, 3),
    }
)
"""Type name to its number in java.sql.Types: (signed, unsigned)."""


def sql_type_number(type_text: str) -> int:
    """Return the number of java.sql.Types for a column type. Raises ValueError for a type that
    MySQL and MariaDB do not have.
    """
    text = type_text.strip().lower()
    match = _WORD.match(text)
    word = "" if match is None else match.group()
    if word in _INTEGERS:
        return _INTEGERS[word][_UNSIGNED.search(text) is not None]
    if word not in _NUMBERS:
        raise ValueError(f"{type_text!r} is not a column type of MySQL or MariaDB")
    return _NUMBERS[word]

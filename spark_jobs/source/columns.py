"""Columns of a source as the catalogue describes them, and kinds of them that are treated alike."""

from dataclasses import dataclass
from typing import Final

WHOLE: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "bit", "year"})
APPROXIMATE: Final = frozenset({"float", "double"})
LABELS: Final = frozenset({"enum", "set"})
BYTES: Final = frozenset({"binary", "varbinary", "uuid", "inet4", "inet6"})
LONG_BYTES: Final = frozenset({
    "tinyblob", "blob", "mediumblob", "longblob", "vector", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
    "multipolygon", "geometrycollection", "geomcollection",
})  # fmt: skip
LONG_TEXTS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext", "json"})
TEXTS: Final = frozenset({"char", "varchar"}) | LONG_TEXTS | LABELS


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column: `kind` is the bare type in small letters, `type_text` the whole one (`decimal(10,2) unsigned`)."""

    name: str
    kind: str
    type_text: str

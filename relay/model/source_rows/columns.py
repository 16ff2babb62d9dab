"""Columns of a source as its catalogue describes them, and groups of column types that are treated
alike.
"""

from dataclasses import dataclass, replace
from typing import Final

WHOLE: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "bit", "year"})
SINGLE: Final = "float"
APPROXIMATE: Final = frozenset({SINGLE, "double"})
LABELS: Final = frozenset({"enum", "set"})
BYTES: Final = frozenset({"binary", "varbinary"})
NAMED_BYTES: Final = frozenset({"uuid", "inet4", "inet6"})
"""Types that are bytes in the binlog, and texts on the server and in messages."""
BLOBS: Final = frozenset({"tinyblob", "blob", "mediumblob", "longblob"})
LONG_BYTES: Final = BLOBS | frozenset({
    "vector", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
    "multipolygon", "geometrycollection", "geomcollection",
})  # fmt: skip
LONG_TEXTS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext", "json"})
TEXTS: Final = frozenset({"char", "varchar"}) | LONG_TEXTS | LABELS


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of a table.

    kind       the bare type in lower case, such as `decimal`
    type_text  the whole type, such as `decimal(10,2) unsigned`
    collation  the collation of texts, "" for other types
    """

    name: str
    kind: str
    type_text: str
    collation: str = ""

    @property
    def in_key(self) -> "SourceColumn":
        """The column as part of a key. A TEXT or BLOB, which MariaDB allows in unique keys, is used
        whole and not as its hash.
        """
        kind = (
            "varchar"
            if self.kind in LONG_TEXTS
            else "varbinary"
            if self.kind in BLOBS
            else self.kind
        )
        return replace(self, kind=kind)

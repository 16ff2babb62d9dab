"""Columns of a source as the catalogue describes them, and groups of column types with the same
treatment.
"""

from dataclasses import dataclass, replace
from typing import Final

WHOLE: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "bit", "year"})
SINGLE: Final = "float"
APPROXIMATE: Final = frozenset({SINGLE, "double"})
LABELS: Final = frozenset({"enum", "set"})
BYTES: Final = frozenset({"binary", "varbinary"})
NAMED_BYTES: Final = frozenset({"uuid", "inet4", "inet6"})
"""Bytes in the binlog, and texts on the server and in messages."""
BLOBS: Final = frozenset({"tinyblob", "blob", "mediumblob", "longblob"})
LONG_BYTES: Final = BLOBS | frozenset({
    "vector", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
    "multipolygon", "geometrycollection", "geomcollection",
})  # fmt: skip
LONG_TEXTS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext", "json"})
TEXTS: Final = frozenset({"char", "varchar"}) | LONG_TEXTS | LABELS


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column. `kind` is the bare type in lower case, `type_text` the whole type (`decimal(10,2)
    unsigned`), `collation` the collation of texts.
    """

    name: str
    kind: str
    type_text: str
    collation: str = ""

    @property
    def in_key(self) -> "SourceColumn":
        """The column as part of a key: a TEXT or BLOB (MariaDB allows them to be unique) is
        included whole, not as its hash.
        """
        kind = (
            "varchar"
            if self.kind in LONG_TEXTS
            else "varbinary"
            if self.kind in BLOBS
            else self.kind
        )
        return replace(self, kind=kind)

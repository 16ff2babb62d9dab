"""One real table of one source, as the catalogue describes it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from relay.model.table import TableId

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


@dataclass(frozen=True)
class Shard:
    """A real table: its instance, the logical name `database.table` of its rows, its columns, and those of them that are its key.

    `shard_in_key`: keys are unique per real table only, so the message key names it.
    """

    instance: str
    real: TableId
    logical: str
    columns: tuple[SourceColumn, ...]
    key_names: tuple[str, ...]
    shard_in_key: bool = False

    @cached_property
    def key(self) -> Sequence[SourceColumn]:
        """The columns of the key, in its order."""
        by_name = {column.name: column for column in self.columns}
        return tuple(by_name[name] for name in self.key_names)

    @cached_property
    def by_name(self) -> Mapping[str, SourceColumn]:
        """The columns by name in small letters."""
        return {column.name.lower(): column for column in self.columns}

    @property
    def name(self) -> str:
        """How the shard is called in sentences and notes: `instance/database.table`."""
        return f"{self.instance}/{self.real}"

    @cached_property
    def mysql_types(self) -> str:
        """The JSON text that a message would have as `mysqlType`."""
        return json.dumps({column.name: column.type_text for column in self.columns}, ensure_ascii=False)

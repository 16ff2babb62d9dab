"""A table as a catalogue or a statement describes it. The description completes table maps without
names, and checks table maps.
"""

from dataclasses import dataclass, fields
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """The description of one column.

    kind      canonical word of its type (`int`, `varchar`, `enum`)
    measures  numbers in the brackets of its type
    nullable  None if it depends on a server setting (TIMESTAMP)
    charset   character set of texts and labels, "binary" for bytes; None for other kinds, and if it
              is unknown
    labels    members of ENUM and SET
    """

    name: str
    kind: str
    measures: tuple[int, ...] = ()
    nullable: bool | None = True
    unsigned: bool = False
    charset: str | None = None
    labels: tuple[str, ...] = ()
    visible: bool = True
    compressed: bool = False


@dataclass(frozen=True, slots=True)
class DescribedIndex:
    """The description of an index other than the primary key.

    columns   names of its columns in order, "" for an expression
    prefixes  prefix length of each part, 0 for a whole column, -1 for an expression; () if all
              parts are whole columns, and for indexes that are not unique
    """

    name: str
    columns: tuple[str, ...]
    unique: bool = False
    prefixes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """The description of a table.

    columns      its columns in order
    primary_key  names of the primary key's columns in key order
    charset      default character set
    indexes      the unique keys in the server's order, then the others by name; None if unknown
    """

    columns: tuple[DescribedColumn, ...]
    primary_key: tuple[str, ...] = ()
    charset: str | None = None
    indexes: tuple[DescribedIndex, ...] | None = None

    def ordinal(self, name: str) -> int | None:
        """Return the ordinal of the column with this name, compared case-insensitively; None if
        there is no such column.
        """
        wanted = name.lower()
        return next(
            (at for at, column in enumerate(self.columns) if column.name.lower() == wanted), None
        )

    def to_fields(self) -> dict[str, Any]:
        """Return the table as JSON fields, without default values."""
        plain: dict[str, Any] = {"columns": [_column_fields(column) for column in self.columns]}
        if self.primary_key:
            plain["primary_key"] = list(self.primary_key)
        if self.charset is not None:
            plain["charset"] = self.charset
        if self.indexes is not None:
            plain["indexes"] = [_index_fields(index) for index in self.indexes]
        return plain

    @classmethod
    def from_fields(cls, plain: dict[str, Any]) -> "DescribedTable":
        """Return the table in fields of `to_fields`. Raises KeyError or TypeError for
        other fields.
        """
        columns = tuple(_column(each) for each in plain["columns"])
        indexes = tuple(_index(each) for each in plain["indexes"]) if "indexes" in plain else None
        return cls(columns, tuple(plain.get("primary_key", ())), plain.get("charset"), indexes)


_USUAL: Final = DescribedColumn("", "")


def _column_fields(column: DescribedColumn) -> dict[str, Any]:
    names = [each.name for each in fields(column)]
    return {
        name: getattr(column, name)
        for name in names
        if getattr(column, name) != getattr(_USUAL, name)
    }


def _index_fields(index: DescribedIndex) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": index.name,
        "columns": list(index.columns),
        "unique": index.unique,
    }
    return {**plain, "prefixes": list(index.prefixes)} if index.prefixes else plain


def _index(plain: dict[str, Any]) -> DescribedIndex:
    return DescribedIndex(
        plain["name"], tuple(plain["columns"]), plain["unique"], tuple(plain.get("prefixes", ()))
    )


def _column(plain: dict[str, Any]) -> DescribedColumn:
    said: dict[str, Any] = {"kind": "", **plain}
    said |= {name: tuple(plain[name]) for name in ("measures", "labels") if name in plain}
    return DescribedColumn(**said)

"""A table as a catalogue or a statement describes it: the facts that complete a table map without
names, or check it.
"""

from dataclasses import dataclass, fields
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """The description of one column.

    kind      the canonical word of its type (`int`, `varchar`, `enum`)
    measures  the numbers in the brackets of its type
    nullable  None if it depends on a server setting (TIMESTAMP)
    charset   that of characters and labels, "binary" for bytes, None for other kinds or if unknown
    labels    the labels of ENUM and SET
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
    """The description of an index other than the primary key: its name and its columns in order, ""
    for an expression.

    `prefixes` is () if every part of a unique key is a whole column; otherwise it has the prefix
    length of each part, 0 for a whole column and -1 for an expression. For other indexes it is
    always ().
    """

    name: str
    columns: tuple[str, ...]
    unique: bool = False
    prefixes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """The description of a table: its columns in order, the columns of its primary key in key
    order, and the default character set.

    `indexes` holds the unique keys in the server's order, then the other indexes by name; None if
    they are not known.
    """

    columns: tuple[DescribedColumn, ...]
    primary_key: tuple[str, ...] = ()
    charset: str | None = None
    indexes: tuple[DescribedIndex, ...] | None = None

    def ordinal(self, name: str) -> int | None:
        """Return the ordinal of the column with this name, in any case; None if there is none."""
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

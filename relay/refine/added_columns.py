"""Adds the columns that a transform's settings define to a table, and sets its key."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from relay.errors import ConfigurationError, RuleRefused
from relay.model.table import Column, ColumnType, TableDefinition, TableMap

_TYPE: Final = re.compile(
    r"(bigint|double|datetime|date|longtext|varchar|decimal)(?:\(([0-9]{1,5})(?:,([0-9]{1,2}))?\))?"
)
_UTF8: Final = "utf8mb4"


def added_column(name: str, type_text: str) -> Column:
    """Return a column of this type.

    Raises ConfigurationError for a type that transforms cannot add.
    """
    match = _TYPE.fullmatch(type_text)
    if match is not None:
        column = _column(
            name, match[1], [int(each) for each in match.groups()[1:] if each is not None]
        )
        if column is not None:
            return column
    known = "bigint, double, decimal(p,s), date, datetime(f), varchar(n), longtext"
    raise ConfigurationError(
        f"A transform cannot add {name} as {type_text!r}: possible types are {known}.",
        remedy=(
            "Correct the type of this column in `adds` of the transform "
            "(docs/howto/transform-rows.md)."
        ),
    )


def _column(name: str, kind: str, measures: Sequence[int]) -> Column | None:
    match kind, list(measures):
        case "bigint", []:
            return Column(name, ColumnType.LONGLONG, nullable=True, length=8)
        case "double", []:
            return Column(name, ColumnType.DOUBLE, nullable=True, length=8)
        case "date", []:
            return Column(name, ColumnType.DATE, nullable=True)
        case "datetime", ([] | [_]):
            return Column(name, ColumnType.DATETIME2, nullable=True, length=sum(measures))
        case "decimal", [precision, scale]:
            return Column(name, ColumnType.NEWDECIMAL, nullable=True, length=precision, scale=scale)
        case "varchar", [characters]:
            return Column(
                name, ColumnType.VARCHAR, nullable=True, length=characters * 4, charset=_UTF8
            )
        case "longtext", []:
            return Column(name, ColumnType.LONG_BLOB, nullable=True, length=4, charset=_UTF8)
    return None


def widened(
    definition: TableDefinition, adds: Mapping[str, str], key: Sequence[str]
) -> TableDefinition:
    """Return the table definition with more columns, and with another key.

    adds  name of each added column to its type text
    key   names of the new key's columns; empty: the key stays the same

    Raises RuleRefused, ConfigurationError.
    """
    columns = (*definition.map.columns, *(added_column(name, text) for name, text in adds.items()))
    ordinals = {column.name.lower(): ordinal for ordinal, column in enumerate(columns)}
    if len(ordinals) < len(columns):
        raise RuleRefused(
            f"A transform adds a column to {definition.id} under a name that the table has already."
        )
    missing = [name for name in key if name.lower() not in ordinals]
    if missing:
        raise RuleRefused(
            f"A transform makes {', '.join(missing)} part of the key of {definition.id}, which "
            f"has no such column."
        )
    named = tuple(ordinals[name.lower()] for name in key)
    table = TableMap(definition.id, columns, named or definition.map.primary_key)
    versions = definition.versions
    if versions is not None and named:
        versions = replace(versions, key=named if versions.end in named else (*named, versions.end))
    return TableDefinition(
        table, named or definition.key, (*definition.type_texts, *adds.values()), versions
    )

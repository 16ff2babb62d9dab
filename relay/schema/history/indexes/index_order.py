"""Names and orders the indexes of a table as servers do. Pure.

Sources: mysql_prepare_create_table, sort_keys and make_unique_key_name of mysql-server and MariaDB.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from relay.schema.history.column_words import BYTE_KINDS, TEXTS
from relay.schema.history.described import DescribedColumn, DescribedIndex, DescribedTable
from relay.schema.history.indexes.key_definitions import EXPRESSION, KeyDefinition

_LARGEST_SUFFIX: Final = 99
PREFIXED: Final = frozenset({"char", "varchar", "binary", "varbinary"})
WITH_PREFIX: Final = PREFIXED | frozenset(TEXTS) | BYTE_KINDS


@dataclass(frozen=True, slots=True)
class BeforePrimaryKey:
    """Facts about indexes that a server creates before the primary key of the same statement. They
    affect the order of indexes.

    columns  the columns at that time; those of the primary key can still be NULL
    added    how many of the statement's own keys come before the primary key; indexes that existed
             before the statement always do
    """

    columns: tuple[DescribedColumn, ...]
    added: int


def with_indexes(
    known: Sequence[DescribedIndex],
    added: Sequence[KeyDefinition],
    table: DescribedTable,
    before: BeforePrimaryKey | None = None,
) -> tuple[DescribedIndex, ...]:
    """Return the indexes with those that a statement adds, named and ordered as the server does.

    known   the indexes before the statement
    added   the added keys in the order of the statement
    table   columns and primary key after the statement
    before  see `BeforePrimaryKey`; None if the statement has no primary key
    """
    early = {index.name.lower() for index in known}
    indexes = list(known)
    explicit = [table.primary_key, *(each.columns for each in added if each.word != "FOREIGN")]
    for number, definition in enumerate(added):
        taken = {index.name.lower() for index in indexes}
        if definition.word == "PRIMARY":
            continue
        if definition.word == "FOREIGN" and _is_covered(
            definition, [*explicit, *(index.columns for index in indexes)]
        ):
            continue
        unique = definition.word == "UNIQUE"
        name = definition.name or _chosen_name(definition, taken)
        indexes.append(
            DescribedIndex(name, definition.columns, unique, definition.prefixes if unique else ())
        )
        if before is not None and number < before.added:
            early.add(name.lower())
    return in_server_order(
        indexes, table.columns, _nullable(before.columns) if before is not None else set(), early
    )


def in_server_order(
    indexes: Iterable[DescribedIndex],
    columns: Sequence[DescribedColumn],
    once_nullable: Set[str] = frozenset(),
    early: Set[str] = frozenset(),
) -> tuple[DescribedIndex, ...]:
    """Return the indexes in the server's order.

    Unique keys come before other indexes. Among unique keys, those without nullable columns come
    first; among these, those without prefixes. The order of other indexes has no effect. In the
    indexes `early`, which the server created before the primary key made its columns NOT NULL, the
    columns `once_nullable` count as nullable. Both are names in lower case.
    """
    by_name = {column.name.lower(): column for column in columns}
    nullable = _nullable(columns)

    def rank(index: DescribedIndex) -> tuple[bool, bool, bool, str]:
        here = nullable | once_nullable if index.name.lower() in early else nullable
        may_be_null = any(name.lower() in here or not name for name in index.columns)
        return (
            not index.unique,
            index.unique and may_be_null,
            any(index.prefixes),
            "" if index.unique else index.name.lower(),
        )

    return tuple(sorted((_without_whole_prefixes(index, by_name) for index in indexes), key=rank))


def _nullable(columns: Iterable[DescribedColumn]) -> set[str]:
    return {column.name.lower() for column in columns if column.nullable is not False}


def _is_covered(foreign: KeyDefinition, keys: Iterable[Sequence[str]]) -> bool:
    """Return whether an index already begins with the columns of a foreign key. The server then
    creates none for it.
    """
    wanted = [name.lower() for name in foreign.columns]
    return any([name.lower() for name in columns[: len(wanted)]] == wanted for columns in keys)


def _chosen_name(definition: KeyDefinition, taken: set[str]) -> str:
    base = (definition.columns[0] if definition.columns else "") or "functional_index"
    if base.lower() not in taken and base.upper() != "PRIMARY":
        return base
    return next(
        (
            f"{base}_{number}"
            for number in range(2, _LARGEST_SUFFIX + 1)
            if f"{base}_{number}".lower() not in taken
        ),
        base,
    )


def fits_prefix(column: DescribedColumn | None, prefix: int) -> bool:
    """Return whether `prefix` makes a column shorter in a key. Otherwise servers use the whole
    column.
    """
    if column is None or prefix == EXPRESSION:
        return True
    return column.kind in WITH_PREFIX and (
        column.kind not in PREFIXED or not column.measures or prefix < column.measures[0]
    )


def _without_whole_prefixes(
    index: DescribedIndex, columns: dict[str, DescribedColumn]
) -> DescribedIndex:
    prefixes = [
        prefix if fits_prefix(columns.get(name.lower()), prefix) else 0
        for name, prefix in zip(index.columns, index.prefixes, strict=False)
    ]
    return replace(index, prefixes=tuple(prefixes) if any(prefixes) else ())

"""Computes the indexes of a table after an ALTER TABLE. Pure.

Source: mysql_prepare_alter_table of mysql-server and MariaDB.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

from relay.schema.history.described import DescribedColumn, DescribedIndex, DescribedTable
from relay.schema.history.indexes.certainty import are_certain, may_be_hashed
from relay.schema.history.indexes.index_order import BeforePrimaryKey, fits_prefix, with_indexes
from relay.schema.history.indexes.key_definitions import KeyDefinition


@dataclass(slots=True)
class IndexAlterations:
    """The changes of indexes by an ALTER TABLE. Names are in lower case.

    added        the added keys
    dropped      names in DROP INDEX and DROP KEY
    constraints  names in DROP CONSTRAINT
    renamed      former name → new name
    retyped      columns that were ENUM or SET: servers may shorten keys to the bytes of a label
    """

    added: list[KeyDefinition] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    constraints: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    retyped: set[str] = field(default_factory=set)
    mariadb: bool = False


def altered_indexes(
    known: Sequence[DescribedIndex] | None,
    changes: IndexAlterations,
    new_names: dict[str, str | None],
    table: DescribedTable,
    before: BeforePrimaryKey | None,
) -> tuple[DescribedIndex, ...] | None:
    """Return the indexes after an ALTER TABLE; None if they are not certain.

    known      the indexes before; None: unknown
    new_names  former column name in lower case → new name, None for a dropped column
    table      the table after the statement, as for `with_indexes`
    before     as for `with_indexes`
    """
    if known is None or _names_are_unclear(known, changes, table):
        return None
    kept = _kept(known, changes, new_names, table)
    names = {index.name.lower() for index in known}
    after = with_indexes(kept, _not_there(changes.added, names | {"primary"}), table, before)
    if _may_be_shortened(after, changes) or not are_certain(after, table, mariadb=changes.mariadb):
        return None
    # If a column's NULL is allowed or forbidden by the statement, MariaDB sorts only some keys
    # again.
    return None if changes.mariadb and _are_reordered(kept, after) else after


def _names_are_unclear(
    known: Sequence[DescribedIndex], changes: IndexAlterations, table: DescribedTable
) -> bool:
    """Return whether the statement names an index that is unknown, or that may be another one.

    MariaDB's DROP CONSTRAINT does not find a key that is stored as a hash, and with IF EXISTS it
    reports no error.
    """
    names = {index.name.lower() for index in known}
    hashed = {index.name.lower() for index in known if may_be_hashed(index, table.columns)}
    if changes.mariadb and changes.constraints & hashed:
        return True
    return not changes.dropped <= names or not changes.renamed.keys() <= names


def _kept(
    known: Sequence[DescribedIndex],
    changes: IndexAlterations,
    new_names: dict[str, str | None],
    table: DescribedTable,
) -> list[DescribedIndex]:
    """Return the indexes that are not dropped, under their new names."""
    unique = {index.name.lower() for index in known if index.unique}
    gone = changes.dropped | (changes.constraints & unique)
    kept = [
        _with_columns(index, new_names, table.columns)
        for index in known
        if index.name.lower() not in gone
    ]
    return [
        replace(index, name=changes.renamed.get(index.name.lower(), index.name))
        for index in kept
        if index.columns
    ]


def _may_be_shortened(after: Sequence[DescribedIndex], changes: IndexAlterations) -> bool:
    """Return whether a unique index has a column that was ENUM or SET."""
    return any(
        index.unique and changes.retyped & {name.lower() for name in index.columns}
        for index in after
    )


def _are_reordered(kept: Sequence[DescribedIndex], after: Sequence[DescribedIndex]) -> bool:
    """Return whether the kept unique indexes have another order than before, or are no longer
    unique.
    """
    stayed = [index.name for index in kept if index.unique]
    return [index.name for index in after if index.name in stayed and index.unique] != stayed


def _not_there(added: Sequence[KeyDefinition], names: Set[str]) -> list[KeyDefinition]:
    """Return the keys that are added even if they have IF NOT EXISTS.

    MariaDB compares them with the indexes before the statement (`names`) and with the earlier keys
    in it. A key without a name is compared by its first column (MariaDB: handle_if_exists_options).
    """
    wanted: list[KeyDefinition] = []
    for number, key in enumerate(added):
        earlier = {_compared_name(each) for each in added[:number] if each.word == key.word}
        if not (key.optional and _compared_name(key) in names | earlier):
            wanted.append(key)
    return wanted


def _compared_name(key: KeyDefinition) -> str:
    return (key.name or next(iter(key.columns), "")).lower()


def _with_columns(
    index: DescribedIndex, new_names: dict[str, str | None], columns: Sequence[DescribedColumn]
) -> DescribedIndex:
    """Return the index with the new column names, without parts whose columns are dropped."""
    kinds = {column.name.lower(): column for column in columns}
    prefixes = index.prefixes or (0,) * len(index.columns)
    parts = [
        (new, prefix if fits_prefix(kinds.get(new.lower()), prefix) else 0)
        for name, prefix in zip(index.columns, prefixes, strict=True)
        if (new := new_names.get(name.lower(), name)) is not None
    ]
    return replace(
        index,
        columns=tuple(name for name, _ in parts),
        prefixes=tuple(prefix for _, prefix in parts) if index.prefixes else (),
    )

"""The indexes of a table: their names and order as servers keep them, and the unique key that names
a row.

Sources: mysql_prepare_create_table, mysql_prepare_alter_table, sort_keys and make_unique_key_name
of mysql-server and MariaDB.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from relay.model.column_families import GEOMETRIES
from relay.schema.history.column_words import BYTE_KINDS, LONGEST_CHARACTER, TEXTS
from relay.schema.history.described import DescribedColumn, DescribedIndex, DescribedTable
from relay.schema.sql.token_cursor import TokenCursor

EXPRESSION: Final = -1
"""The prefix length that stands for a part which is an expression."""
_LARGEST_SUFFIX: Final = 99
_CONSTRAINTS: Final = ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK")
_PREFIXED: Final = frozenset({"char", "varchar", "binary", "varbinary"})
_SHAPES: Final = frozenset(GEOMETRIES)
"""Kinds of columns to which releases give prefixes of their own in a unique key, whatever the
statement says.
"""
_SHORTEST_LIMIT: Final = 767
"""Bytes of the longest key in InnoDB's older row formats."""
_WITH_PREFIX: Final = _PREFIXED | frozenset(TEXTS) | BYTE_KINDS


@dataclass(frozen=True, slots=True)
class KeyDefinition:
    """One key or index as a statement defines it.

    `name`: "" where the server chooses one. `prefixes`: prefix length of each part, 0 for a whole
    column. `word`: PRIMARY, UNIQUE, INDEX, or FOREIGN for the index that a foreign key needs.
    `optional`: it has IF NOT EXISTS. `over_period`: it ends with MariaDB's `period WITHOUT
    OVERLAPS`, which is none of the columns.
    """

    word: str
    name: str = ""
    columns: tuple[str, ...] = ()
    prefixes: tuple[int, ...] = ()
    optional: bool = False
    over_period: bool = False

    @classmethod
    def of_column(cls, name: str) -> "KeyDefinition":
        """Return the key that UNIQUE in a column's definition adds."""
        return cls("UNIQUE", "", (name,), (0,))


@dataclass(slots=True)
class IndexChanges:
    """What ALTER TABLE does to indexes; names are in lower case.

    `constraints` are names that DROP CONSTRAINT takes.

    `retyped` are the columns that were ENUM or SET: of their keys, servers may keep as many bytes
    as a label had.
    """

    added: list[KeyDefinition] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    constraints: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    retyped: set[str] = field(default_factory=set)
    mariadb: bool = False


def key_definition(cursor: TokenCursor) -> KeyDefinition | None:
    """Take the definition of a key up to the end of its column list.

    None for CHECK and all that is no key.
    """
    symbol = ""
    if cursor.accept("CONSTRAINT") and cursor.word() not in _CONSTRAINTS:
        symbol = cursor.name() or ""
    if cursor.accept("PRIMARY", "KEY"):
        optional, parts = cursor.accept("IF", "NOT", "EXISTS"), key_parts(cursor)
        return KeyDefinition(
            "PRIMARY", "", parts.columns, parts.prefixes, optional, parts.over_period
        )
    word = _kind(cursor)
    if not word:
        return None
    optional = cursor.accept("IF", "NOT", "EXISTS")
    name = "" if cursor.word() in ("(", "USING") else cursor.name() or ""
    name = (symbol or name) if word == "FOREIGN" else name or (symbol if word == "UNIQUE" else "")
    parts = key_parts(cursor)
    return KeyDefinition(word, name, parts.columns, parts.prefixes, optional, parts.over_period)


def _kind(cursor: TokenCursor) -> str:
    """Take the words before the name; "" where they begin no key."""
    word = cursor.word()
    if cursor.accept("FOREIGN", "KEY"):
        return word
    if word not in ("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR", "INDEX", "KEY"):
        return ""
    cursor.take()
    if word not in ("INDEX", "KEY"):
        _ = cursor.accept("INDEX") or cursor.accept("KEY")
    return "UNIQUE" if word == "UNIQUE" else "INDEX"


class KeyParts(NamedTuple):
    """The columns of a key, the prefix length of each, and whether a period without overlaps stands
    behind them.
    """

    columns: tuple[str, ...]
    prefixes: tuple[int, ...]
    over_period: bool


def key_parts(cursor: TokenCursor) -> KeyParts:
    """Take the column list of a key, with what may stand before it."""
    if not cursor.skip_to("("):
        return KeyParts((), (), over_period=False)
    names, prefixes, over_period = [], [], False
    going_on = True
    while going_on:
        name = cursor.name()
        if name is not None and cursor.accept("WITHOUT", "OVERLAPS"):
            over_period = True
            going_on = cursor.skip_item()
            continue
        token = cursor.take() if name is not None and cursor.accept("(") else None
        names.append(name or "")
        prefixes.append(
            EXPRESSION
            if name is None
            else int(token.text)
            if token is not None and token.text.isdecimal()
            else 0
        )
        if token is not None:
            cursor.skip_brackets()
        going_on = cursor.skip_item()
    return KeyParts(tuple(names), tuple(prefixes), over_period)


@dataclass(frozen=True, slots=True)
class BeforePrimaryKey:
    """What servers order indexes by that come before the primary key of their statement: columns
    that it has not made NOT NULL yet.

    `added` is the number of the statement's own keys that come before it; the indexes that were
    there do so always.
    """

    columns: tuple[DescribedColumn, ...]
    added: int


def with_indexes(
    known: Sequence[DescribedIndex],
    added: Sequence[KeyDefinition],
    table: DescribedTable,
    before: BeforePrimaryKey | None = None,
) -> tuple[DescribedIndex, ...]:
    """Return the indexes with those that a statement adds, named and ordered as the server does it.

    `table` has the columns and the primary key of the table after the statement. `before`: None
    where the statement has no primary key.
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
    """Unique keys first: those without NULL, then those without prefixes, else as before.

    The order of the others means nothing.

    The columns `once_nullable` count as nullable in the indexes `early`; both in lower case.
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


def altered_indexes(
    known: Sequence[DescribedIndex] | None,
    changes: IndexChanges,
    new_names: dict[str, str | None],
    table: DescribedTable,
    before: BeforePrimaryKey | None,
) -> tuple[DescribedIndex, ...] | None:
    """Return the indexes after ALTER TABLE; None where they are not known any more.

    `new_names`: a column's new name by its old one in lower case, None for a column that is
    dropped. `table` and `before` as in `with_indexes`.
    """
    if known is None:
        return None
    names = {index.name.lower() for index in known}
    if changes.mariadb and changes.constraints & {
        index.name.lower() for index in known if _may_be_hashed(index, table.columns)
    }:
        # DROP CONSTRAINT takes such a key for none, and with IF EXISTS it says nothing of that
        return None
    if not changes.dropped <= names or not changes.renamed.keys() <= names:
        return None
    gone = changes.dropped | (
        changes.constraints & {index.name.lower() for index in known if index.unique}
    )
    kept = [
        _with_columns(index, new_names, table.columns)
        for index in known
        if index.name.lower() not in gone
    ]
    renamed = [
        replace(index, name=changes.renamed.get(index.name.lower(), index.name))
        for index in kept
        if index.columns
    ]
    after = with_indexes(renamed, _not_there(changes.added, names | {"primary"}), table, before)
    if any(
        index.unique and changes.retyped & {name.lower() for name in index.columns}
        for index in after
    ):
        return None
    if not are_certain(after, table, mariadb=changes.mariadb):
        return None
    stayed = [index.name for index in renamed if index.unique]
    if (
        changes.mariadb
        and [index.name for index in after if index.name in stayed and index.unique] != stayed
    ):
        # where NULL is allowed or forbidden later, MariaDB orders some keys again and leaves others
        # where they are
        return None
    return after


def _not_there(added: Sequence[KeyDefinition], names: Set[str]) -> list[KeyDefinition]:
    """Leave out what IF NOT EXISTS leaves out: MariaDB compares with the indexes before the
    statement and with the keys before in it.

    A key without a name is compared by its first column (MariaDB: handle_if_exists_options).
    `names` are those before the statement.
    """
    wanted: list[KeyDefinition] = []
    for number, key in enumerate(added):
        earlier = {_compared_name(each) for each in added[:number] if each.word == key.word}
        if not (key.optional and _compared_name(key) in names | earlier):
            wanted.append(key)
    return wanted


def _compared_name(key: KeyDefinition) -> str:
    return (key.name or next(iter(key.columns), "")).lower()


def _nullable(columns: Iterable[DescribedColumn]) -> set[str]:
    return {column.name.lower() for column in columns if column.nullable is not False}


def _is_covered(foreign: KeyDefinition, keys: Iterable[Sequence[str]]) -> bool:
    """Whether an index begins with the columns of a foreign key, which then needs none of its
    own.
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


def _with_columns(
    index: DescribedIndex, new_names: dict[str, str | None], columns: Sequence[DescribedColumn]
) -> DescribedIndex:
    """The index under its columns' new names, without parts whose columns are dropped."""
    kinds = {column.name.lower(): column for column in columns}
    prefixes = index.prefixes or (0,) * len(index.columns)
    parts = [
        (new, prefix if _fits(kinds.get(new.lower()), prefix) else 0)
        for name, prefix in zip(index.columns, prefixes, strict=True)
        if (new := new_names.get(name.lower(), name)) is not None
    ]
    return replace(
        index,
        columns=tuple(name for name, _ in parts),
        prefixes=tuple(prefix for _, prefix in parts) if index.prefixes else (),
    )


def _fits(column: DescribedColumn | None, prefix: int) -> bool:
    """Whether a column may have a prefix and is longer than it; else servers take the whole
    column.
    """
    if column is None or prefix == EXPRESSION:
        return True
    return column.kind in _WITH_PREFIX and (
        column.kind not in _PREFIXED or not column.measures or prefix < column.measures[0]
    )


def _without_whole_prefixes(
    index: DescribedIndex, columns: dict[str, DescribedColumn]
) -> DescribedIndex:
    prefixes = [
        prefix if _fits(columns.get(name.lower()), prefix) else 0
        for name, prefix in zip(index.columns, index.prefixes, strict=False)
    ]
    return replace(index, prefixes=tuple(prefixes) if any(prefixes) else ())


def are_certain(indexes: Iterable[DescribedIndex], table: DescribedTable, *, mariadb: bool) -> bool:
    """Whether every release keeps the unique keys so.

    Releases give prefixes of their own to shapes. MariaDB keeps long keys as hashes and puts them
    behind the others.
    """
    unique = [index for index in indexes if index.unique]
    shapes = {column.name.lower() for column in table.columns if column.kind in _SHAPES}
    if any(shapes & {name.lower() for name in index.columns} for index in unique):
        return False
    return not (
        mariadb
        and len(unique) > 1
        and any(_may_be_hashed(index, table.columns) for index in unique)
    )


def _may_be_hashed(index: DescribedIndex, columns: Iterable[DescribedColumn]) -> bool:
    """Whether MariaDB may keep a unique key as a hash: it has a whole TEXT or BLOB, or is longer
    than some row formats allow.
    """
    sizes = {column.name.lower(): _key_bytes(column) for column in columns}
    prefixes = index.prefixes or (0,) * len(index.columns)
    parts = zip(index.columns, prefixes, strict=True)
    return (
        index.unique
        and sum(prefix or sizes.get(name.lower(), 0) for name, prefix in parts) > _SHORTEST_LIMIT
    )


def _key_bytes(column: DescribedColumn) -> int:
    """The bytes of a whole column in a key, as far as they may be many."""
    if column.kind in _PREFIXED and column.measures:
        return column.measures[0] * LONGEST_CHARACTER.get(column.charset or "", 1)
    return _SHORTEST_LIMIT + 1 if column.kind in _WITH_PREFIX else 0

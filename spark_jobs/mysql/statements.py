"""Builds the SQL statements of a mirror, without a connection."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from spark_jobs.spark_util.identifiers import quoted

KEY_HASH: Final = "_key_hash"
GUARD_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # SHA-256 of the message key: no collation, padding or length of the source's own key can
        # make two keys meet.
        KEY_HASH: "BINARY(32) NOT NULL PRIMARY KEY",
        "_key": "LONGTEXT NOT NULL",
        "_order": "CHAR(33) CHARACTER SET ascii COLLATE ascii_bin NOT NULL",
        "_execute_time": "BIGINT NOT NULL",
        "_execute_position": "BIGINT NOT NULL",
        "_deleted": "BOOLEAN NOT NULL",
        "_unfit": "LONGTEXT NULL",
    }
)
_ORDER: Final = "`_order`"


def create_database(database: str) -> str:
    """Return the statement that creates a database if it is missing."""
    return f"CREATE DATABASE IF NOT EXISTS {quoted(database)} CHARACTER SET utf8mb4"


def create_table(place: str, columns: Mapping[str, str]) -> str:
    """Return the statement that creates a copy if it is missing, with these columns and those for
    order keys and deletes (guards).

    `place` is the quoted name of the table, `columns` maps name to type. Every column may be NULL.
    """
    guards = [f"{quoted(name)} {kind}" for name, kind in GUARD_TYPES.items()]
    return (
        f"CREATE TABLE IF NOT EXISTS {place} "
        f"({', '.join([*guards, *map(_column, columns.items())])}) CHARACTER SET utf8mb4"
    )


def alter_table(place: str, added: Mapping[str, str], retyped: Mapping[str, str]) -> str:
    """Return the statement that adds columns to the table `place` and changes the types of others.
    `added` and `retyped` map name to type.
    """
    changes = [
        *(f"ADD COLUMN {_column(each)}" for each in added.items()),
        *(f"MODIFY COLUMN {_column(each)}" for each in retyped.items()),
    ]
    return f"ALTER TABLE {place} {', '.join(changes)}"


def upsert(place: str, columns: Sequence[str], rows: int) -> str:
    """Return the statement that writes `rows` rows, each with its order key and the other guards,
    then `columns`.

    A row is written if the table has no row of its key, or one with a smaller or equal order. The
    order is set last: the server assigns from left to right, and each earlier assignment still
    compares with the old order. If a UNIQUE index conflicts with the row of another key, the hash
    of the key becomes NULL, which the server refuses.
    """
    names = [*GUARD_TYPES, *columns]
    given = f"({', '.join(['%s'] * len(names))})"
    newer = f"VALUES({_ORDER}) >= {_ORDER}"
    values = [
        (quoted(name), f"VALUES({quoted(name)})")
        for name in names
        if name not in (KEY_HASH, "_order")
    ]
    hashed = quoted(KEY_HASH)
    assigned = [f"{hashed} = IF({hashed} = VALUES({hashed}), {hashed}, NULL)"]
    assigned += [f"{name} = IF({newer}, {value}, {name})" for name, value in values]
    assigned.append(f"{_ORDER} = GREATEST({_ORDER}, VALUES({_ORDER}))")
    head = f"INSERT INTO {place} ({', '.join(map(quoted, names))}) VALUES "
    tail = f" ON DUPLICATE KEY UPDATE {', '.join(assigned)}"
    return f"{_literal(head)}{', '.join([given] * rows)}{_literal(tail)}"


def orders_of(place: str, rows: int) -> str:
    """Return the query for the order keys of `rows` rows of the table `place`, which are selected
    by the hashes of their keys.
    """
    question = _literal(
        f"SELECT {quoted(KEY_HASH)}, {_ORDER} FROM {place} WHERE {quoted(KEY_HASH)} IN "
    )
    return f"{question}({', '.join(['%s'] * rows)})"


def select_piece(place: str, columns: Sequence[str], *, last: bool) -> str:
    """Return the query for the rows of the table `place` whose hash is in a range.

    last  whether the range has no upper limit, so that the query has one placeholder instead of two
    """
    names = ", ".join(quoted(name) for name in (*GUARD_TYPES, *columns) if name != KEY_HASH)
    upper = "" if last else f" AND {quoted(KEY_HASH)} < %s"
    return f"{_literal(f'SELECT {names} FROM {place} WHERE {quoted(KEY_HASH)} >= ')}%s{upper}"


def forget(place: str) -> str:
    """Return the statement that removes the deleted rows of the table `place` whose deletes have an
    execute time below the statement's only parameter.
    """
    return f"{_literal(f'DELETE FROM {place} WHERE')} `_deleted` AND `_execute_time` < %s"


def place_of(table: str, prefix: str) -> str:
    """Return the quoted name of the copy of a logical table, `<prefix><database>.<table>`."""
    database, _, name = table.partition(".")
    return f"{quoted(prefix + database)}.{quoted(name)}"


def _column(column: tuple[str, str]) -> str:
    name, kind = column
    return f"{quoted(name)} {kind} NULL"


def _literal(text: str) -> str:
    """Return text in which the driver finds no placeholder."""
    return text.replace("%", "%%")


def pieces(count: int) -> Iterable[tuple[bytes, bytes | None]]:
    """Yield `count` (2 to 256) ranges of hashes as (first hash, the hash after the last one).

    The second value of the last range is None.
    """
    borders = [bytes((256 * number // count,)).ljust(32, b"\0") for number in range(count)]
    return list(zip(borders, [*borders[1:], None], strict=True))

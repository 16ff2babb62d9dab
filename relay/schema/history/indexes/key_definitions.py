"""Parses the definitions of keys in statements."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from relay.schema.sql.token_cursor import TokenCursor

EXPRESSION: Final = -1
"""The prefix length of a part of a key that is an expression."""
_CONSTRAINTS: Final = ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK")


@dataclass(frozen=True, slots=True)
class KeyDefinition:
    """A key or index as a statement defines it.

    word         PRIMARY, UNIQUE, INDEX, or FOREIGN for the index that a foreign key needs
    name         "" if the server chooses one
    columns      its columns in order
    prefixes     prefix length of each part, 0 for a whole column
    optional     whether it has IF NOT EXISTS
    over_period  whether it ends with MariaDB's `period WITHOUT OVERLAPS`, which is no column
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


def key_definition(cursor: TokenCursor) -> KeyDefinition | None:
    """Return the key whose definition is at the cursor, up to the end of its column list; None for
    CHECK, or if the next tokens define no key.
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
    """Read the words before the name of a key; return "" if they do not begin a key."""
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
    """The parts of a key.

    columns      names of the columns
    prefixes     prefix length of each part, 0 for a whole column
    over_period  whether a period WITHOUT OVERLAPS follows
    """

    columns: tuple[str, ...]
    prefixes: tuple[int, ...]
    over_period: bool


def key_parts(cursor: TokenCursor) -> KeyParts:
    """Return the parts of a key. The cursor is at the column list, or at options before it."""
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

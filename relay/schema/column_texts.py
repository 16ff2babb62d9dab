"""Reads column types in statements, in the form that Canal prints as `mysqlType`.

Canal keeps the words of the DDL (`INT`, `BOOL`, `NUMERIC(1,1)`), writes `unsigned` and `zerofill`
in lower case, and prints `double(53)` for FLOAT(53). Source: alibaba/canal, MemoryTableMeta;
recorded messages in tests/golden.
"""

from typing import Final

from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import Token, TokenKind

_NO_COLUMN: Final = frozenset(
    {
        "PRIMARY",
        "KEY",
        "INDEX",
        "UNIQUE",
        "FULLTEXT",
        "SPATIAL",
        "FOREIGN",
        "CONSTRAINT",
        "CHECK",
        "LIKE",
    }
)
# These first words begin a period or key only if the second word follows. Otherwise they are the
# name of a column.
_NO_COLUMN_PAIRS: Final = frozenset({("PERIOD", "FOR"), ("VECTOR", "INDEX"), ("VECTOR", "KEY")})
_SECOND_WORDS: Final = {
    "DOUBLE": ("PRECISION",),
    "NATIONAL": ("CHAR", "CHARACTER", "VARCHAR"),
    "CHAR": ("VARYING",),
    "CHARACTER": ("VARYING",),
    "NCHAR": ("VARYING", "VARCHAR"),
    "LONG": ("VARCHAR", "VARBINARY"),
}
# FLOAT(p) with more binary digits than this is a DOUBLE.
_FLOAT_DIGITS: Final = 24


def starts_column(cursor: TokenCursor) -> bool:
    """Return whether a table element is a column rather than a key or a constraint."""
    if cursor.word() in _NO_COLUMN or (cursor.word(), cursor.word(1)) in _NO_COLUMN_PAIRS:
        return False
    return cursor.token is not None and cursor.token.is_name


def column(cursor: TokenCursor) -> tuple[str, str] | None:
    """Return (name, type text) of the column at the cursor; None if the next tokens are not a
    column.
    """
    name = cursor.name()
    text = _type_text(cursor) if name is not None else None
    return (name, text) if name is not None and text is not None else None


def column_list(cursor: TokenCursor) -> dict[str, str]:
    """Return name → type text of the columns in a list of table elements. The cursor is after the
    list's opening bracket.
    """
    columns = {}
    going_on = True
    while going_on:
        found = column(cursor) if starts_column(cursor) else None
        if found is not None:
            columns[found[0]] = found[1]
        going_on = cursor.skip_item()
    return columns


def _type_text(cursor: TokenCursor) -> str | None:
    first = cursor.token
    if first is None or first.kind is not TokenKind.WORD:
        return None
    cursor.take()
    words = [first.text]
    while cursor.word() in _SECOND_WORDS.get(words[-1].upper(), ()):
        words += [token.text for token in [cursor.take()] if token is not None]
    arguments = _arguments(cursor) if cursor.accept("(") else []
    if (
        words[0].upper() == "FLOAT"
        and len(arguments) == 1
        and arguments[0].isdecimal()
        and int(arguments[0]) > _FLOAT_DIGITS
    ):
        words = ["double"]
    brackets = f"({','.join(arguments)})" if arguments else ""
    return " ".join(words) + brackets + _attributes(cursor)


def _arguments(cursor: TokenCursor) -> list[str]:
    """Read the arguments up to the closing bracket."""
    arguments = []
    while (token := cursor.take()) is not None and token.word != ")":
        if token.word != ",":
            arguments.append(_literal(token))
    return arguments


def _literal(token: Token) -> str:
    if token.text.startswith('"'):
        return "'" + token.name.replace("'", "''") + "'"
    return token.text


def _attributes(cursor: TokenCursor) -> str:
    """Return `unsigned` and `zerofill` among the attributes after the type. ZEROFILL makes a column
    unsigned.
    """
    found = set()
    while cursor.word() in ("UNSIGNED", "SIGNED", "ZEROFILL"):
        found.add(cursor.word())
        cursor.take()
    if "ZEROFILL" in found:
        return " unsigned zerofill"
    return " unsigned" if "UNSIGNED" in found else ""

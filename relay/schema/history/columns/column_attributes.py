"""Reads the attributes after the type of a column definition."""

from dataclasses import dataclass, field
from typing import Final

from relay.schema.history.column_words import charset_name
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import TokenKind

# Attributes with a value that the relay does not need.
_WITH_VALUE: Final = frozenset(
    (
        "DEFAULT",
        "COMMENT",
        "UPDATE",
        "COLUMN_FORMAT",
        "STORAGE",
        "ENGINE_ATTRIBUTE",
        "SECONDARY_ENGINE_ATTRIBUTE",
    )
)


@dataclass(slots=True)
class Attributes:
    """The attributes of a column that were read so far.

    nullable         None if neither NULL nor NOT NULL is written
    position, after  FIRST or AFTER, and the column after which it is placed; "" otherwise
    words            the words that have no field of their own
    """

    charset: str | None = None
    collation: str = ""
    nullable: bool | None = None
    unsigned: bool = False
    primary: bool = False
    unique: bool = False
    visible: bool = True
    compressed: bool = False
    position: str = ""
    after: str = ""
    words: list[str] = field(default_factory=list)


def read_attributes(cursor: TokenCursor, said: Attributes) -> None:
    """Read the attributes of a column into `said`, up to the comma or bracket that ends its
    definition.
    """
    while cursor.token is not None and cursor.word() not in (",", ")"):
        if cursor.accept("("):
            cursor.skip_brackets()
        else:
            _read_attribute(cursor, said)


def _read_attribute(cursor: TokenCursor, said: Attributes) -> None:
    """Read one attribute of the column, of any kind."""
    word = cursor.word()
    cursor.take()
    if not (_read_key(word, cursor, said) or _read_form(word, cursor, said)):
        _read_charset(word, cursor, said)


def _read_key(word: str, cursor: TokenCursor, said: Attributes) -> bool:
    """Read an attribute about NULL or keys; return False if `word` is another attribute."""
    match word:
        case "NOT" if cursor.accept("NULL"):
            said.nullable = False
        case "NULL":
            said.nullable = True
        case "AUTO_INCREMENT":
            said.nullable = False
        case "ROW" if cursor.accept("START") or cursor.accept(
            "END"
        ):  # MariaDB: GENERATED ALWAYS AS ROW START
            said.nullable = False
        case "PRIMARY" | "KEY":
            said.primary = True
        case "UNIQUE":
            said.unique = True
            cursor.accept("KEY")
        case "SERIAL" if cursor.accept("DEFAULT", "VALUE"):
            said.nullable, said.unique = False, True
        case _:
            return False
    return True


def _read_form(word: str, cursor: TokenCursor, said: Attributes) -> bool:
    """Read or skip an attribute about sign, storage or position; return False if `word` is another
    attribute.
    """
    match word:
        case "UNSIGNED" | "ZEROFILL":
            said.unsigned = True
        case "INVISIBLE":
            said.visible = False
        case "COMPRESSED":
            said.compressed = True
        case "FIRST":
            said.position = "FIRST"
        case "AFTER":
            said.position, said.after = "AFTER", cursor.name() or ""
        case _ if word in _WITH_VALUE:
            _skip_value(cursor)
        case "SET" | "DELETE":  # ON DELETE SET NULL
            cursor.skip("SET", "NULL", "DEFAULT", "CASCADE", "RESTRICT")
        case _:
            return False
    return True


def _skip_value(cursor: TokenCursor) -> None:
    """Skip one value with an optional `=` before it. The caller skips its brackets."""
    cursor.accept("=")
    cursor.skip("-", "+")
    if cursor.word() != "(":
        cursor.take()


def _read_charset(word: str, cursor: TokenCursor, said: Attributes) -> None:
    if word == "CHARSET" or (word in ("CHARACTER", "CHAR") and cursor.accept("SET")):
        said.charset = charset_name(_name(cursor))
    elif word == "COLLATE":
        said.collation = _name(cursor)
    elif word == "ASCII":
        said.charset = "latin1"
    elif word == "UNICODE":
        said.charset = "ucs2"
    elif word == "BYTE":
        said.charset = "binary"


def _name(cursor: TokenCursor) -> str:
    cursor.accept("=")
    token = cursor.take()
    return (
        token.name
        if token is not None and token.kind is TokenKind.QUOTED
        else (token.text.strip("'\"") if token is not None else "")
    )

"""One column's definition as a statement or a catalogue writes it → DescribedColumn."""

from dataclasses import dataclass, field, replace
from typing import Final

from relay.schema.history.column_words import (
    BYTE_KINDS,
    CHARACTER_KINDS,
    DEFAULT_MEASURES,
    LONGEST_CHARACTER,
    MEASURED,
    NATIONAL,
    OF_BYTES,
    SYNONYMS,
    TEXT_BYTES,
    TEXTS,
    charset_name,
    charset_of_collation_name,
)
from relay.schema.history.described import DescribedColumn
from relay.schema.sql_literals import literal_text
from relay.schema.sql_tokens import TokenKind
from relay.schema.token_cursor import TokenCursor

_LONGEST_TYPE_WORDS: Final = 3
# From this many binary digits on, FLOAT(p) is a DOUBLE.
_FLOAT_DIGITS: Final = 24


@dataclass(slots=True)
class Definition:
    """A column and what its definition says besides: where it goes, and whether it is the primary key.

    `place` is "" where nothing is said, "FIRST", or "AFTER" with the name in `after`.
    """

    column: DescribedColumn
    primary: bool = False
    place: str = ""
    after: str = ""


@dataclass(slots=True)
class _Said:
    """What a definition says on its way."""

    charset: str | None = None
    collation: str = ""
    nullable: bool | None = None
    unsigned: bool = False
    primary: bool = False
    visible: bool = True
    compressed: bool = False
    place: str = ""
    after: str = ""
    words: list[str] = field(default_factory=list)


def column_definition(cursor: TokenCursor, default_charset: str | None, *, mariadb: bool = False) -> Definition | None:
    """Take a name and its definition, up to the comma or bracket behind it; None when something else comes."""
    name = cursor.name()
    return None if name is None else typed(name, cursor, default_charset, mariadb=mariadb)


def typed(name: str, cursor: TokenCursor, default_charset: str | None, *, mariadb: bool = False) -> Definition | None:
    """Take the definition of a column whose name is taken."""
    first = cursor.token
    if first is None or first.kind is not TokenKind.WORD:
        return None
    words = _type_words(cursor)
    measures, labels = _arguments(cursor)
    said = _Said(words=words)
    _read_attributes(cursor, said)
    kind = _kind(words, measures)
    column = DescribedColumn(name, kind, measures, None, said.unsigned, None, labels, said.visible, said.compressed)
    column = _with_charset(column, said, default_charset, mariadb=mariadb)
    if words == ["SERIAL"]:
        column = replace(column, unsigned=True, nullable=False)
    return Definition(_sized(replace(column, nullable=_nullable(column, said))), said.primary, said.place, said.after)


def _type_words(cursor: TokenCursor) -> list[str]:
    """Take the words of the type: as many as make a known one, at least one."""
    for count in range(_LONGEST_TYPE_WORDS, 1, -1):
        words = [cursor.word(ahead) for ahead in range(count)]
        if " ".join(words) in SYNONYMS:
            for _ in words:
                cursor.take()
            return words
    token = cursor.take()
    return [token.word if token is not None else ""]


def _arguments(cursor: TokenCursor) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Take what stands in brackets: numbers, or labels."""
    numbers: list[int] = []
    labels: list[str] = []
    if not cursor.accept("("):
        return (), ()
    while (token := cursor.take()) is not None and token.word != ")":
        if token.kind is TokenKind.STRING:
            labels.append(literal_text(token.text))
        elif token.text.isdecimal():
            numbers.append(int(token.text))
    return tuple(numbers), tuple(labels)


def _kind(words: list[str], measures: tuple[int, ...]) -> str:
    text = " ".join(words)
    kind = SYNONYMS.get(text, text.lower())
    if kind == "float" and len(measures) == 1 and measures[0] > _FLOAT_DIGITS:
        return "double"
    return kind


def _read_attributes(cursor: TokenCursor, said: _Said) -> None:
    """Read up to the comma or bracket that ends the definition, which stays."""
    while cursor.token is not None and cursor.word() not in (",", ")"):
        if cursor.accept("("):
            cursor.skip_brackets()
        else:
            _read_attribute(cursor, said)


def _read_attribute(cursor: TokenCursor, said: _Said) -> None:
    word = cursor.word()
    cursor.take()
    match word:
        case "UNSIGNED" | "ZEROFILL":
            said.unsigned = True
        case "NOT" if cursor.accept("NULL"):
            said.nullable = False
        case "NULL":
            said.nullable = True
        case "AUTO_INCREMENT":
            said.nullable = False
        case "PRIMARY" | "KEY":
            said.primary = True
        case "UNIQUE":
            cursor.accept("KEY")
        case "INVISIBLE":
            said.visible = False
        case "COMPRESSED":
            said.compressed = True
        case "FIRST":
            said.place = "FIRST"
        case "AFTER":
            said.place, said.after = "AFTER", cursor.name() or ""
        case "DEFAULT" | "COMMENT" | "UPDATE" | "COLUMN_FORMAT" | "STORAGE" | "ENGINE_ATTRIBUTE" | "SECONDARY_ENGINE_ATTRIBUTE":
            _skip_value(cursor)
        case "SET" | "DELETE":  # ON DELETE SET NULL
            cursor.skip("SET", "NULL", "DEFAULT", "CASCADE", "RESTRICT")
        case _:
            _read_charset(word, cursor, said)


def _skip_value(cursor: TokenCursor) -> None:
    """Step over one value; its brackets, if any, are stepped over by the caller. `=` may stand before it."""
    cursor.accept("=")
    cursor.skip("-", "+")
    if cursor.word() != "(":
        cursor.take()


def _read_charset(word: str, cursor: TokenCursor, said: _Said) -> None:
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
    return token.name if token is not None and token.kind is TokenKind.QUOTED else (token.text.strip("'\"") if token is not None else "")


def _nullable(column: DescribedColumn, said: _Said) -> bool | None:
    if column.nullable is False or said.primary:
        return False
    if said.nullable is None and column.kind == "timestamp":
        return None  # explicit_defaults_for_timestamp decides
    return said.nullable is not False


def _with_charset(column: DescribedColumn, said: _Said, default: str | None, *, mariadb: bool) -> DescribedColumn:
    """The column with its character set: its own, its collation's, or the table's."""
    if column.kind == "json" and mariadb:
        return replace(column, kind="longtext", charset="utf8mb4")
    if column.kind in BYTE_KINDS:
        return replace(column, charset="binary")
    if column.kind not in CHARACTER_KINDS:
        return column
    national = "utf8mb3" if said.words[0] in NATIONAL else None
    charset = said.charset or charset_of_collation_name(said.collation) or national or default
    return of_charset(column, charset)


def of_charset(column: DescribedColumn, charset: str | None) -> DescribedColumn:
    """A character column in this character set; in `binary` it holds bytes."""
    if charset == "binary" and column.kind in OF_BYTES:
        return replace(column, kind=OF_BYTES[column.kind], charset="binary")
    return replace(column, charset=charset)


def _sized(column: DescribedColumn) -> DescribedColumn:
    """The column with the measures that its kind has where none are written; TEXT(n) and BLOB(n) as the kind that holds them."""
    if column.kind in ("text", "blob") and column.measures:
        width = LONGEST_CHARACTER.get(column.charset or "", 1)
        size = next(at for at, limit in enumerate(TEXT_BYTES) if column.measures[0] * width <= limit or at == len(TEXT_BYTES) - 1)
        kind = TEXTS[size] if column.kind == "text" else OF_BYTES[TEXTS[size]]
        return replace(column, kind=kind, measures=())
    if column.kind not in MEASURED:
        return replace(column, measures=())
    if column.kind == "decimal" and len(column.measures) == 1:
        return replace(column, measures=(column.measures[0], 0))
    if not column.measures and column.kind in DEFAULT_MEASURES:
        return replace(column, measures=DEFAULT_MEASURES[column.kind])
    return column

"""One column's definition as a statement or a catalogue writes it → DescribedColumn."""

from dataclasses import dataclass, field, replace
from typing import Final

from relay.model.sql_mode import SqlMode
from relay.schema.history.column_words import (
    BYTE_KINDS,
    CHARACTER_KINDS,
    CODECS,
    DEFAULT_MEASURES,
    LONGEST_CHARACTER,
    LONGEST_VARCHAR,
    MEASURED,
    MODE_OF_SCHEMA,
    NATIONAL,
    OF_BYTES,
    SYNONYMS,
    TEXT_BYTES,
    TEXTS,
    TYPES_OF_MODE,
    UNICODE,
    WIDE,
    charset_name,
    charset_of_collation_name,
)
from relay.schema.history.described import DescribedColumn
from relay.schema.sql.literals import literal_text
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import TokenKind

_LONGEST_TYPE_WORDS: Final = 3
# From this many binary digits on, FLOAT(p) is a DOUBLE.
_FLOAT_DIGITS: Final = 24
# How labels may be written as bytes, in digits of this base: x'61', 0x61, b'01100001', 0b01100001.
_DIGITS: Final = {"X": 16, "0X": 16, "B": 2, "0B": 2}
# Attributes that are followed by a value, and that the relay does not need.
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


class NotFollowed(Exception):
    """A statement says something of columns that cannot be told from its text; `args[0]` says
    what.
    """


@dataclass(slots=True)
class Definition:
    """A column and what its definition says besides: where it goes, and whether it is the primary
    key or a unique one.

    `place` is "" where nothing is said, "FIRST", or "AFTER" with the name in `after`. `in_digits`
    says that a label is written as the digits of its bytes.
    """

    column: DescribedColumn
    primary: bool = False
    place: str = ""
    after: str = ""
    unique: bool = False
    in_digits: bool = False

    @property
    def has_doubtful_key(self) -> bool:
        """Whether MariaDB's releases differ in the keys of the column: of PRIMARY KEY and UNIQUE,
        later ones make the first alone.
        """
        return self.primary and self.unique


@dataclass(slots=True)
class _Said:
    """What a definition says on its way."""

    charset: str | None = None
    collation: str = ""
    nullable: bool | None = None
    unsigned: bool = False
    primary: bool = False
    unique: bool = False
    visible: bool = True
    compressed: bool = False
    place: str = ""
    after: str = ""
    words: list[str] = field(default_factory=list)


def column_definition(
    cursor: TokenCursor,
    default_charset: str | None,
    *,
    mariadb: bool = False,
    converted: str | None = None,
) -> Definition | None:
    """Take a name and its definition, up to the comma or bracket behind it.

    None when something else comes.

    `converted` is the character set of CONVERT TO in the same statement. Raises NotFollowed for
    labels whose characters cannot be told.
    """
    name = cursor.name()
    found = (
        None
        if name is None
        else typed(name, cursor, default_charset, mariadb=mariadb, converted=converted)
    )
    if found is not None:
        if found.in_digits and found.column.charset in WIDE:
            raise NotFollowed(
                f"a label of {found.column.name!r} is written as bytes in {found.column.charset}"
            )
        found.column = replace(
            found.column, labels=labels_in(found.column.labels, found.column.charset)
        )
    return found


def typed(
    name: str,
    cursor: TokenCursor,
    default_charset: str | None,
    *,
    mariadb: bool = False,
    converted: str | None = None,
) -> Definition | None:
    """Take the definition of a column whose name is taken; labels stay as they are written.

    Raises as `column_definition`.
    """
    first = cursor.token
    if first is None or first.kind is not TokenKind.WORD:
        return None
    mode = _type_mode(cursor)
    words = _type_words(cursor)
    measures, labels, in_digits = _arguments(cursor)
    said = _Said(words=words)
    _read_attributes(cursor, said)
    kind = _kind(words, measures, mode)
    column = DescribedColumn(
        name, kind, measures, None, said.unsigned, None, labels, said.visible, said.compressed
    )
    column = _with_charset(column, said, default_charset, mariadb=mariadb)
    if converted is not None and column.kind in CHARACTER_KINDS and column.charset != "binary":
        column = of_charset(column, converted)
    if words == ["SERIAL"]:
        column = replace(column, unsigned=True, nullable=False)
        said.unique = True
    column = sized(replace(column, nullable=_nullable(column, said)))
    return Definition(column, said.primary, said.place, said.after, said.unique, in_digits)


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


def _arguments(cursor: TokenCursor) -> tuple[tuple[int, ...], tuple[str, ...], bool]:
    """Take what stands in brackets: numbers, or labels.

    And whether a label is written as the digits of its bytes.
    """
    numbers: list[int] = []
    labels: list[str] = []
    base, in_digits = 0, False
    if not cursor.accept("("):
        return (), (), False
    while (token := cursor.take()) is not None and token.word != ")":
        if token.kind is TokenKind.STRING and base:
            labels.append(_of_digits(token.text[1:-1], base))
            in_digits = True
        elif token.kind is TokenKind.STRING:
            labels.append(literal_text(token.text, cursor.sql_mode))
        elif token.word[:2] in _DIGITS and len(token.text) > 1:
            labels.append(_of_digits(token.text[2:], _DIGITS[token.word[:2]]))
            in_digits = True
        elif token.text.isdecimal():
            numbers.append(int(token.text))
        base = _DIGITS.get(token.word, 0)
    return tuple(numbers), tuple(labels), in_digits


def _of_digits(digits: str, base: int) -> str:
    """A label that is written as a number's digits; bytes that are no ASCII become U+FFFD."""
    bits = len(digits) * (4 if base == 16 else 1)
    return int(digits or "0", base).to_bytes((bits + 7) // 8, "big").decode("ascii", "replace")


def labels_in(labels: tuple[str, ...], charset: str | None) -> tuple[str, ...]:
    """Return labels as a column of this character set keeps them.

    Raises NotFollowed where a character may be lost.
    """
    kept = labels if charset == "binary" else tuple(label.rstrip(" ") for label in labels)
    if not all(label.isascii() or _has(charset, label) for label in kept):
        raise NotFollowed(f"a label has a character that {charset} may not have")
    return kept


def _has(charset: str | None, label: str) -> bool:
    """Whether a character set has all characters of a label, as far as that can be told."""
    if "\ufffd" in label:
        return False
    if charset in UNICODE or charset in (None, "binary"):
        return charset not in ("utf8mb3", "ucs2") or max(label) <= "\uffff"
    try:
        label.encode(CODECS[charset or ""])
    except (KeyError, UnicodeError):
        return False
    return True


def _type_mode(cursor: TokenCursor) -> SqlMode:
    """The mode whose type names come: the session's, or that of MariaDB's qualifier
    (`oracle_schema.DATE`), which is taken.
    """
    if cursor.word(1) == "." and (named := MODE_OF_SCHEMA.get(cursor.word())) is not None:
        cursor.take()
        cursor.take()
        return named
    return cursor.sql_mode


def _kind(words: list[str], measures: tuple[int, ...], mode: SqlMode) -> str:
    text = " ".join(words)
    for flag, types in TYPES_OF_MODE.items():
        if flag in mode and text in types and (text != "BLOB" or not measures):
            return "double" if text == "NUMBER" and not measures else types[text]
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
    """Take one attribute of the column, whichever kind it is."""
    word = cursor.word()
    cursor.take()
    if not (_read_key(word, cursor, said) or _read_form(word, cursor, said)):
        _read_charset(word, cursor, said)


def _read_key(word: str, cursor: TokenCursor, said: _Said) -> bool:
    """Take an attribute about NULL or about keys; False when it is none."""
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


def _read_form(word: str, cursor: TokenCursor, said: _Said) -> bool:
    """Take an attribute about sign, storage or place, or skip one; False when it is none."""
    match word:
        case "UNSIGNED" | "ZEROFILL":
            said.unsigned = True
        case "INVISIBLE":
            said.visible = False
        case "COMPRESSED":
            said.compressed = True
        case "FIRST":
            said.place = "FIRST"
        case "AFTER":
            said.place, said.after = "AFTER", cursor.name() or ""
        case _ if word in _WITH_VALUE:
            _skip_value(cursor)
        case "SET" | "DELETE":  # ON DELETE SET NULL
            cursor.skip("SET", "NULL", "DEFAULT", "CASCADE", "RESTRICT")
        case _:
            return False
    return True


def _skip_value(cursor: TokenCursor) -> None:
    """Step over one value; its brackets, if any, are stepped over by the caller.

    `=` may stand before it.
    """
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
    return (
        token.name
        if token is not None and token.kind is TokenKind.QUOTED
        else (token.text.strip("'\"") if token is not None else "")
    )


def _nullable(column: DescribedColumn, said: _Said) -> bool | None:
    if column.nullable is False or said.primary:
        return False
    if said.nullable is None and column.kind == "timestamp":
        return None  # explicit_defaults_for_timestamp decides
    return said.nullable is not False


def _with_charset(
    column: DescribedColumn, said: _Said, default: str | None, *, mariadb: bool
) -> DescribedColumn:
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


def sized(column: DescribedColumn) -> DescribedColumn:
    """The column with the measures that its kind has where none are written.

    TEXT(n) and BLOB(n) become the kind that holds them, and so does a VARCHAR that is too long, as
    sessions may make that are not strict.
    """
    size = (
        column.measures[0] * LONGEST_CHARACTER.get(column.charset or "", 1)
        if column.measures
        else 0
    )
    if column.kind in ("text", "blob") and column.measures:
        return _of_size(column, size, of_bytes=column.kind == "blob")
    if column.kind in ("varchar", "varbinary") and size > LONGEST_VARCHAR:
        return _of_size(column, size, of_bytes=column.kind == "varbinary")
    if column.kind not in MEASURED:
        return replace(column, measures=())
    if column.kind == "decimal" and len(column.measures) == 1:
        return replace(column, measures=(column.measures[0], 0))
    if not column.measures and column.kind in DEFAULT_MEASURES:
        return replace(column, measures=DEFAULT_MEASURES[column.kind])
    return column


def _of_size(column: DescribedColumn, size: int, *, of_bytes: bool) -> DescribedColumn:
    """The column as the smallest TEXT or BLOB that holds so many bytes."""
    kind = next(
        (kind for kind, limit in zip(TEXTS, TEXT_BYTES, strict=True) if size <= limit), TEXTS[-1]
    )
    return replace(column, kind=OF_BYTES[kind] if of_bytes else kind, measures=())

"""Reads the type in a column definition: its words, numbers and labels, and the kind that they
mean.
"""

from typing import Final

from relay.model.sql_mode import SqlMode
from relay.schema.history.column_words import MODE_OF_SCHEMA, SYNONYMS, TYPES_OF_MODE
from relay.schema.sql.literals import literal_text
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import TokenKind

_LONGEST_TYPE_WORDS: Final = 3
# FLOAT(p) with more binary digits than this is a DOUBLE.
_FLOAT_DIGITS: Final = 24
# Base of labels that are written as bytes, by prefix: x'61', 0x61, b'01100001', 0b01100001.
_DIGITS: Final = {"X": 16, "0X": 16, "B": 2, "0B": 2}


def type_words(cursor: TokenCursor) -> list[str]:
    """Return the words of the type at the cursor: those of the longest known type, or the next
    word.
    """
    for count in range(_LONGEST_TYPE_WORDS, 1, -1):
        words = [cursor.word(ahead) for ahead in range(count)]
        if " ".join(words) in SYNONYMS:
            for _ in words:
                cursor.take()
            return words
    token = cursor.take()
    return [token.word if token is not None else ""]


def type_arguments(cursor: TokenCursor) -> tuple[tuple[int, ...], tuple[str, ...], bool]:
    """Return (numbers, labels, whether a label is written as digits of its bytes) of the brackets
    at the cursor.
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
    """Return the label that is written as hexadecimal or binary digits. Bytes that are not ASCII
    become U+FFFD.
    """
    bits = len(digits) * (4 if base == 16 else 1)
    return int(digits or "0", base).to_bytes((bits + 7) // 8, "big").decode("ascii", "replace")


def type_mode(cursor: TokenCursor) -> SqlMode:
    """Return the sql_mode under which type names are read.

    It is the session's mode, or that of MariaDB's qualifier (`oracle_schema.DATE`), which is
    consumed.
    """
    if cursor.word(1) == "." and (named := MODE_OF_SCHEMA.get(cursor.word())) is not None:
        cursor.take()
        cursor.take()
        return named
    return cursor.sql_mode


def kind_of(words: list[str], measures: tuple[int, ...], mode: SqlMode) -> str:
    """Return the kind of column that the words of a type mean under this sql_mode, in lower case.

    `measures` are the numbers in the type's brackets.
    """
    text = " ".join(words)
    for flag, types in TYPES_OF_MODE.items():
        if flag in mode and text in types and (text != "BLOB" or not measures):
            return "double" if text == "NUMBER" and not measures else types[text]
    kind = SYNONYMS.get(text, text.lower())
    if kind == "float" and len(measures) == 1 and measures[0] > _FLOAT_DIGITS:
        return "double"
    return kind

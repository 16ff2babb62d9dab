"""The text of a condition, cut into words, names, numbers, texts and signs."""

import re
from enum import Enum
from typing import Final, NamedTuple

from relay.errors import ConditionRefused

MOST_CHARACTERS: Final = 10_000
"""A longer condition is refused; use a lookup table for a list of values that grows."""

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)
      | (?P<text>'(?:[^']|'')*')
      | (?P<quoted>`(?:[^`]|``)+`)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign><>|!=|<=|>=|[=<>(),+-])
    )""",
    re.VERBOSE,
)
_KEYWORDS: Final = frozenset(
    {"AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE"}
)


class Kind(Enum):
    """The kind of a token in the text of a condition; END follows the last one."""

    WORD = "keyword"
    NAME = "name"
    NUMBER = "number"
    TEXT = "text"
    SIGN = "sign"
    END = "end"


class Token(NamedTuple):
    """`text` is a keyword in capitals, a name or a text without its quotes, else as written.

    `at` counts characters from 1.
    """

    kind: Kind
    text: str
    at: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of the text; the last one marks its end. Raises ConditionRefused."""
    if len(text) > MOST_CHARACTERS:
        raise ConditionRefused(
            f"A condition has {len(text)} characters, and at most {MOST_CHARACTERS} are allowed."
        )
    found, at, length = [], 0, len(text.rstrip())
    while at < length:
        match = _TOKEN.match(text, at)
        if match is None:
            raise refused(
                text,
                at + 1 + len(text[at:]) - len(text[at:].lstrip()),
                _unreadable(text[at:].lstrip()),
            )
        found.append(_token(match))
        at = match.end()
    return [*found, Token(Kind.END, "", length + 1)]


def refused(text: str, at: int, why: str) -> ConditionRefused:
    """Return the refusal of a condition at one of its characters."""
    return ConditionRefused(f"The condition {text!r} cannot be read at character {at}: {why}")


def _token(match: re.Match[str]) -> Token:
    kind, written = match.lastgroup, match[match.lastgroup or 0]
    at = match.end() - len(written) + 1
    if kind == "number":
        return Token(Kind.NUMBER, written, at)
    if kind == "text":
        return Token(Kind.TEXT, written[1:-1].replace("''", "'"), at)
    if kind == "quoted":
        return Token(Kind.NAME, written[1:-1].replace("``", "`"), at)
    if kind == "word":
        keyword = written.upper() in _KEYWORDS
        return Token(Kind.WORD, written.upper(), at) if keyword else Token(Kind.NAME, written, at)
    return Token(Kind.SIGN, "<>" if written == "!=" else written, at)


def _unreadable(rest: str) -> str:
    if rest[0] in "'`":
        return f"{rest[0]} is not closed."
    if rest[0] == '"':
        return "write texts in single quotes, names of columns in backticks or without quotes."
    return f"{rest[0]!r} is not expected here."

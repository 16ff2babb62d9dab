"""Splits SQL text into tokens with their offsets, by the lexical rules of MySQL and MariaDB.

There is no full parser, because a binlog may have the dialect of any server version. Statements are
recognised by their first words. Those that are not recognised must be published byte for byte.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final

from relay.model.sql_mode import NO_MODE, SqlMode


class TokenKind(Enum):
    """The kind of a token. Only WORD tokens can be keywords."""

    WORD = "word"
    # an identifier in backticks; with ANSI_QUOTES in double quotes, with MSSQL in square brackets
    QUOTED = "quoted"
    # Where a name is required, a double-quoted text is an identifier, because the binlog may not
    # have recorded the mode.
    STRING = "string"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the offsets of its text: `sql[start:end]`."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in upper case, or the sign; "" for quoted text, which is never a keyword."""
        return self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SIGN) else ""

    @property
    def is_name(self) -> bool:
        """Return whether the token can be an identifier."""
        return self.kind in (TokenKind.WORD, TokenKind.QUOTED) or self.text.startswith('"')

    @property
    def name(self) -> str:
        """Return the identifier without its quotes; doubled quotes are resolved."""
        if self.kind is TokenKind.WORD:
            return self.text
        quote = self.text[-1]
        return self.text[1:-1].replace(quote * 2, quote)


# The contents of version comments (`/*!80000 … */`, MariaDB's `/*M! … */`) are SQL, so only their
# begin and end count as space. Servers log those of later versions as plain comments
# (`/* 80000 … */`).
_SPACE: Final = r"\s+ | /\*{}!\d* | \*/ | /\*.*?(?:\*/|\Z) | --(?=\s|\Z)[^\n]* | \#[^\n]*"
_BACKTICKED: Final = "`(?:[^`]|``)*`"
_BRACKETED: Final = r"\[(?:[^\]]|\]\])*\]"
_DOUBLE_QUOTED: Final = '"(?:[^"]|"")*"'
_STRING: Final = "{0}(?:[^{0}]|{0}{0})*{0}"
_ESCAPED_STRING: Final = r"{0}(?:[^{0}\\]|{0}{0}|\\.)*{0}"


@cache
def _pattern(sql_mode: SqlMode, mariadb: bool) -> "re.Pattern[str]":
    """Return the pattern of tokens for sessions with this sql_mode."""
    string = _STRING if SqlMode.NO_BACKSLASH_ESCAPES in sql_mode else _ESCAPED_STRING
    quoted, strings = [_BACKTICKED], [string.format("'")]
    if SqlMode.ANSI_QUOTES in sql_mode:
        quoted.append(_DOUBLE_QUOTED)
    else:
        strings.append(string.format('"'))
    if SqlMode.MSSQL in sql_mode:
        quoted.append(_BRACKETED)
    kinds = {
        "space": _SPACE.format("M?" if mariadb else ""),
        "quoted": "|".join(quoted),
        "string": "|".join(strings),
        "word": r"[\w$]+",
        "sign": ".",
    }
    return re.compile(
        "|".join(f"(?P<{kind}> {pattern} )" for kind, pattern in kinds.items()),
        re.VERBOSE | re.DOTALL,
    )


def tokenize(
    sql: str, sql_mode: SqlMode = NO_MODE, limit: int | None = None, *, mariadb: bool = True
) -> list[Token]:
    """Return at most `limit` tokens of a text (None: all), without comments and spaces.

    No text raises an error: unusual characters are signs. `mariadb`: the contents of MariaDB's
    version comments are tokens; for MySQL they are comments.
    """
    tokens: list[Token] = []
    for match in _pattern(sql_mode, mariadb).finditer(sql):
        if match.lastgroup == "space":
            continue
        tokens.append(Token(TokenKind(match.lastgroup), match.group(), match.start(), match.end()))
        if limit is not None and len(tokens) >= limit:
            break
    return tokens

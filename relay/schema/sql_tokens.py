"""The words of an SQL text with their places in it, by MySQL's lexical rules.

A full parser would not do here: what stands in a binlog is the dialect of any server version, and what is not understood must
still be passed on byte for byte. So statements are recognised by their first words, on tokens that know where they stand.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final


class TokenKind(Enum):
    WORD = "word"
    QUOTED = "quoted"  # an identifier in backticks
    STRING = "string"  # with ANSI_QUOTES a double-quoted one may be an identifier; its place tells
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class Token:
    """A token and where its text stands: `sql[start:end]`."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The upper-case word, or the sign; empty for what is quoted, which is never a keyword."""
        return self.text.upper() if self.kind in (TokenKind.WORD, TokenKind.SIGN) else ""

    @property
    def is_name(self) -> bool:
        """Whether an identifier can be written so."""
        return self.kind in (TokenKind.WORD, TokenKind.QUOTED) or self.text.startswith('"')

    @property
    def name(self) -> str:
        """The identifier that the token writes, its quotes and doubled quotes undone."""
        if self.kind is TokenKind.WORD:
            return self.text
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote)


# Version comments (`/*!80000 … */`, MariaDB's `/*M! … */`) run as SQL, so only their brackets count as space.
_TOKENS: Final = re.compile(
    r"""
      (?P<space> \s+ | /\*M?!\d* | \*/ | /\*.*?(?:\*/|\Z) | --(?=\s|\Z)[^\n]* | \#[^\n]* )
    | (?P<quoted> `(?:[^`]|``)*` )
    | (?P<string> '(?:[^'\\]|''|\\.)*' | "(?:[^"\\]|""|\\.)*" )
    | (?P<word> [\w$]+ )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(sql: str, limit: int | None = None) -> list[Token]:
    """Cut a text into tokens, comments and space left out; at most `limit` of them. No text is an error: odd characters are signs."""
    tokens: list[Token] = []
    for match in _TOKENS.finditer(sql):
        if match.lastgroup == "space":
            continue
        tokens.append(Token(TokenKind(match.lastgroup), match.group(), match.start(), match.end()))
        if limit is not None and len(tokens) >= limit:
            break
    return tokens

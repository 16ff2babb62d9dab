"""Converts string literals of SQL into the strings that they mean."""

import re
from typing import Final

from relay.model.sql_mode import NO_MODE, SqlMode

# A backslash before any other character means that character (MySQL manual: String Literals).
_ESCAPES: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_UNESCAPED: Final = re.compile(r"\\(.)|(['\"])\2", re.DOTALL)


def literal_text(literal: str, sql_mode: SqlMode = NO_MODE) -> str:
    """Return the string that a quoted literal means.

    Doubled quotes become one. Backslashes are resolved unless the mode has NO_BACKSLASH_ESCAPES.
    """
    quote = literal[0]
    if SqlMode.NO_BACKSLASH_ESCAPES in sql_mode:
        return literal[1:-1].replace(quote * 2, quote)
    return _UNESCAPED.sub(lambda found: _meaning(found, quote), literal[1:-1])


def _meaning(found: "re.Match[str]", quote: str) -> str:
    if found[1] is not None:
        return _ESCAPES.get(found[1], found[1])
    return quote if found[2] == quote else found[0]

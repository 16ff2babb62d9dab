"""Checks an operator's condition before it becomes part of a SELECT. Pure."""

import re
from typing import Final

_QUOTES: Final = "'\"`"
_COMMENTS: Final = re.compile(r"--|#|/\*")
_WORDS: Final = re.compile(
    r"(?<![a-z_])(union|select|into|table)(?![a-z0-9_])", re.ASCII | re.IGNORECASE
)
"""Words that read other tables or write files. They are found also directly after a digit:
`1e0union` is two tokens.
"""


def condition_problem(text: str) -> str:
    """Return why a text cannot be one condition in parentheses; "" if it can.

    The check is valid under every sql_mode. So a backslash inside quotes is refused: whether it
    escapes the next quote depends on NO_BACKSLASH_ESCAPES. Every `$` outside quotes is refused
    because of MySQL's dollar quotes.
    """
    if "\0" in text:
        return "it contains a NUL character"
    parts = _parts(text)
    if parts is None:
        return "a quote in it is not closed, or a backslash is inside quotes"
    plain = "".join(parts)
    if found := _COMMENTS.search(plain):
        return f"it contains the comment mark {found[0]}"
    for mark in ";$\\":
        if mark in plain:
            return f"it contains {mark} outside quotes"
    if found := _WORDS.search(plain):
        return f"it contains the word {found[0].upper()} outside quotes"
    return "" if _is_balanced(plain) else "its parentheses are not balanced"


def _parts(text: str) -> list[str] | None:
    """Return the text with each quoted part replaced by two quotes.

    None: a quote is not closed, or a backslash is inside quotes.
    """
    parts: list[str] = []
    at = 0
    while at < len(text):
        mark = text[at]
        if mark not in _QUOTES:
            parts.append(mark)
            at += 1
            continue
        end = text.find(mark, at + 1)
        if end < 0 or "\\" in text[at:end]:
            return None
        parts.append(mark * 2)
        at = end + 1
    return parts


def _is_balanced(plain: str) -> bool:
    depth = 0
    for mark in plain:
        depth += (mark == "(") - (mark == ")")
        if depth < 0:
            return False
    return depth == 0

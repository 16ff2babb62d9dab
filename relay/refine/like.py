"""SQL's LIKE in bounded time: each piece between two `%` is searched once."""

import re
from collections.abc import Callable
from typing import NamedTuple


class _Piece(NamedTuple):
    """A piece between two `%`: it matches `width` characters."""

    expression: re.Pattern[str]
    width: int


def like(pattern: str) -> Callable[[str], bool]:
    """Return the test of a pattern; the whole text must match, and case counts."""
    first, *others = _pieces(pattern)
    if not others:
        return lambda text: first.expression.fullmatch(text) is not None
    *middle, last = others

    def matches(text: str) -> bool:
        found = first.expression.match(text)
        for piece in middle:
            if found is None:
                return False
            found = piece.expression.search(text, found.end())
        return found is not None and _ends(last, text, found.end())

    return matches


def _ends(piece: _Piece, text: str, start: int) -> bool:
    """Whether the text ends with the piece, which begins not before `start`."""
    begin = len(text) - piece.width
    return begin >= start and piece.expression.fullmatch(text, begin) is not None


def _pieces(pattern: str) -> list[_Piece]:
    """Cut at each `%` that has no backslash before it."""
    pieces: list[list[str]] = [[]]
    escaped = False
    for character in pattern:
        if not escaped and character == "\\":
            escaped = True
            continue
        if not escaped and character == "%":
            pieces.append([])
        else:
            pieces[-1].append("." if character == "_" and not escaped else re.escape(character))
        escaped = False
    if escaped:
        pieces[-1].append(r"\\")
    return [_Piece(re.compile("".join(each), re.DOTALL), len(each)) for each in pieces]

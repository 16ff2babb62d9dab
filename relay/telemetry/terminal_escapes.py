"""Escapes characters of foreign texts that would move a terminal's cursor or hide text."""

import re
from typing import Final

_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Return the text with control characters and direction marks as escapes (`\x1b`).

    Halves of surrogate pairs are escaped too.
    """
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

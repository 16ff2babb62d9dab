"""Converts the offsets at which a reader continues to the id of a server-sent event, and back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

_TEXT: Final = re.compile(r"\d{1,6}-\d{1,18}(,\d{1,6}-\d{1,18})*", re.ASCII)
_MOST_CHARACTERS: Final = 8000


@dataclass(frozen=True, slots=True)
class PeekOffsets:
    """Partition number → the next offset to read."""

    offsets: Mapping[int, int]

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the offsets in a text such as `0-17,1-5`; None if the text has another form."""
        if len(text) > _MOST_CHARACTERS or not _TEXT.fullmatch(text):
            return None
        pairs = (each.split("-") for each in text.split(","))
        return cls({int(partition): int(offset) for partition, offset in pairs})

    @property
    def text(self) -> str:
        """Return the offsets as `0-17,1-5`; empty if that is too long for an HTTP header."""
        text = ",".join(f"{number}-{offset}" for number, offset in sorted(self.offsets.items()))
        return text if len(text) <= _MOST_CHARACTERS else ""

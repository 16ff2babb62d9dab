"""Finds the line and column of a JSON pointer in the text of a mapping document."""

import json
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = " \t\n\r"


class TextLocation(NamedTuple):
    """A line and a column in a text, both counted from 1. Columns count characters."""

    line: int
    column: int


class TextLocations:
    """Finds where JSON pointers are in one text.

    The entries of a list are located only once.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def of(self, pointer: str) -> TextLocation:
        """Return where the value of a JSON pointer begins. If it does not exist, return where the
        innermost existing value on its path begins.

        If the text is not JSON, return where its first error is.
        """
        try:
            offset = self._offset(pointer)
        except json.JSONDecodeError as exc:
            offset = exc.pos
        except (ValueError, RecursionError):
            offset = 0
        line = bisect_right(self._line_starts, offset)
        return TextLocation(line, offset - self._line_starts[line - 1] + 1)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(at + 1 for at, each in enumerate(self._text) if each == "\n")]

    @cached_property
    def _begin(self) -> int:
        """Return the offset of the document. Raises ValueError if the text is not JSON."""
        json.loads(self._text)
        return self._skip(0)

    @cached_property
    def _entries(self) -> list[int]:
        return [offset for _, offset in self._values(self._begin)]

    def _offset(self, pointer: str) -> int:
        offset, parts = self._begin, pointer.split("/")[1:]
        if parts and self._text[offset] == "[":
            if not parts[0].isdecimal() or int(parts[0]) >= len(self._entries):
                return offset
            offset = self._entries[int(parts.pop(0))]
        for part in parts:
            name = part.replace("~1", "/").replace("~0", "~")
            found = next((at for key, at in self._values(offset) if key == name), None)
            if found is None:
                return offset
            offset = found
        return offset

    def _values(self, offset: int) -> Iterator[tuple[str, int]]:
        """Yield (key or index, offset) of each value in the list or object at `offset`."""
        kind, index, at = self._text[offset], 0, self._skip(offset + 1)
        while kind in "[{" and self._text[at] not in "]}":
            key = str(index)
            if kind == "{":
                key, at = _DECODER.raw_decode(self._text, at)
                at = self._skip(self._skip(at) + 1)
            yield key, at
            at = self._skip(_DECODER.raw_decode(self._text, at)[1])
            if self._text[at] == ",":
                at = self._skip(at + 1)
            index += 1

    def _skip(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in _SPACE:
            at += 1
        return at

"""What the writers of source know of a table, and how they have numbers read."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from relay.generated.column_source import ColumnSource, Field

INDENT: Final = "    "


@dataclass(frozen=True)
class TableSource:
    """What a table's rows look like and where they go: ordinals of the key and of the columns placed by."""

    columns: tuple[ColumnSource, ...]
    key: tuple[int, ...]
    key_head: bytes
    placed: tuple[int, ...]
    seed: int
    partitions: int

    @cached_property
    def null_bytes(self) -> int:
        return (len(self.columns) + 7) // 8

    @cached_property
    def fixed_points(self) -> frozenset[int]:
        """The columns that an update printed here leaves alone."""
        return frozenset((*self.key, *self.placed))


class RowReading(Protocol):
    """Source that reads a row from `at` on, so that `behind` stands behind it, and prints what it was before into the list `old`."""

    def lines(self) -> list[str]:
        """Return the lines, without indentation."""

    def piece(self, column: ColumnSource) -> str:
        """Return a new value's piece of an f-string."""

    def unless_null(self, column: ColumnSource, line: str) -> list[str]:
        """Return the line for a new value that is not null."""


class Readers:
    """The struct readings of one function; `by_name` are the objects that its source calls."""

    def __init__(self) -> None:
        self.by_name: dict[str, Callable[[bytes, int], tuple[object, ...]]] = {}

    def unpack(self, start: str, size: int, fields: Sequence[tuple[str, Field]]) -> list[str]:
        """Return the lines that read named fields of a piece; the first of them raises when the piece ends behind the event."""
        lines = []
        for order in "<>":
            own = [(name, field) for name, field in fields if field.order == order]
            if own:
                targets = "".join(f"{name}, " for name, _ in own).strip()
                lines.append(f"{targets} = {self._reader(order, size, [field for _, field in own])}(body, {start})")
        return lines

    def _reader(self, order: str, size: int, fields: Sequence[Field]) -> str:
        codes, at = [order], 0
        for field in fields:
            codes += [f"{field.at - at}x"] * (field.at > at) + [field.code]
            at = field.at + field.size
        codes += [f"{size - at}x"] * (size > at)
        name = f"read{len(self.by_name)}"
        self.by_name[name] = struct.Struct("".join(codes)).unpack_from
        return name


def indented(lines: Sequence[str], depth: int = 1) -> list[str]:
    return [INDENT * depth + line for line in lines]

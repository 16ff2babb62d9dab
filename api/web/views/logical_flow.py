"""Draws a logical database as a picture: its shards on the left, its topics on the right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from api.models.mappings.logical_mapping import LogicalGroupView

_MOST_NODES: Final = 6
"""A side shows this many; the last one counts the rest."""
_ROW: Final = 26
_TOP: Final = 27
_LEFT_EDGE, _RIGHT_EDGE = 250, 690
_MIDDLE_LEFT, _MIDDLE_RIGHT = 385, 555


@dataclass(frozen=True, slots=True)
class Node:
    """A box of the picture: its text, a smaller text at its right edge (`beside`), and the vertical
    position of its top edge (`y`).
    """

    text: str
    beside: str
    y: int

    @property
    def middle(self) -> float:
        """Return the vertical position at which lines begin or end."""
        return self.y + _ROW / 2 - 2.5


@dataclass(frozen=True, slots=True)
class Flow:
    """Boxes and lines of one picture, in units of its SVG view box."""

    left: Sequence[Node]
    right: Sequence[Node]
    height: int
    label: str

    @property
    def center(self) -> float:
        """Return the vertical position of the centre of the middle box."""
        return _TOP + (self.height - _TOP) / 2 - 4

    @property
    def lines(self) -> list[str]:
        """Return the attribute `d` of the SVG path of each line."""
        return [
            *(_curve(_LEFT_EDGE, each.middle, _MIDDLE_LEFT, self.center) for each in self.left),
            *(_curve(_MIDDLE_RIGHT, self.center, _RIGHT_EDGE, each.middle) for each in self.right),
        ]


def flow_of(group: LogicalGroupView) -> Flow:
    """Return the boxes and lines that show the shards and topics of one logical database."""
    shards = [(each.rule, ", ".join(each.instances)) for each in group.shards]
    topics = [(each, "") for each in group.topics]
    rows = max(2, min(_MOST_NODES, max(len(shards), len(topics))))
    height = _TOP + rows * _ROW + 8
    label = (
        f"{len(shards)} real databases or expressions become the logical database {group.name}, "
        f"which goes to {', '.join(group.topics) or 'no topic'}"
    )
    return Flow(_nodes(shards, rows), _nodes(topics, rows), height, label)


def _nodes(pairs: Sequence[tuple[str, str]], rows: int) -> list[Node]:
    shown: Iterable[tuple[str, str]] = pairs
    if len(pairs) > rows:
        shown = [*pairs[: rows - 1], (f"and {len(pairs) - rows + 1} more", "")]
    shown = list(shown)
    first = _TOP + (rows - len(shown)) * _ROW // 2
    return [
        Node(_cut(text), _cut(beside), first + at * _ROW) for at, (text, beside) in enumerate(shown)
    ]


def _cut(text: str, most: int = 24) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _curve(x: int, y: float, to_x: int, to_y: float) -> str:
    middle = (x + to_x) / 2
    return f"M{x} {y:.1f}C{middle:.0f} {y:.1f} {middle:.0f} {to_y:.1f} {to_x} {to_y:.1f}"

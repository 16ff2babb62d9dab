"""Draws a flame graph of stacks that a sampling profiler folded (Brendan Gregg, "The Flame Graph",
CACM 59/6).

    py-spy record --native --format raw --pid PID --output stacks.txt
    python -m tools.bench.measuring.flame stacks.txt flame.svg

A line of the file is a stack: its frames between semicolons, the outermost first, then its number
of samples. The picture shows the file of a frame without folder and line.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

_WIDTH: Final = 1400.0  # all lengths in pixels
_ROW: Final = 17
_NARROWEST: Final = 1.5
_CHARACTER: Final = 6.6
_NUMBER: Final = re.compile(r"^thread \(\d+\): ")
_PLACE: Final = re.compile(r"\((?:[^()]*/)?([^()/]*?)(?::\d+)?\)")
_COLOURS: Final = (
    ("relay", "#f0a35e"),
    ("rd_", "#7fb069"),
    ("rdk", "#7fb069"),
    ("LZ4", "#7fb069"),
    ("[", "#9db4c0"),
)
_OTHER: Final = "#e8d5b0"


@dataclass(slots=True)
class Frame:
    """A node of the call tree: a function, and the number of its samples."""

    name: str
    samples: int = 0
    inner: dict[str, "Frame"] = field(default_factory=dict)


class Box(NamedTuple):
    """A drawn frame. `left` and `width` are shares of the whole width."""

    name: str
    depth: int
    left: float
    width: float
    samples: int


def tree(lines: Iterable[str]) -> Frame:
    """Return the call tree of folded stacks."""
    root = Frame("all")
    for line in lines:
        stack, _, count = line.strip().rpartition(" ")
        if not stack:
            continue
        root.samples += int(count)
        frame = root
        for name in map(short, stack.split(";")):
            frame = frame.inner.setdefault(name, Frame(name))
            frame.samples += int(count)
    return root


def short(name: str) -> str:
    """Return the name of a frame with its file name, or of a thread without its number."""
    return _PLACE.sub(r"(\1)", _NUMBER.sub("thread ", name))


def boxes(frame: Frame, whole: int, depth: int = 0, left: float = 0.0) -> Iterator[Box]:
    """Yield the boxes that are wide enough to be visible.

    Called frames are below their caller, the most frequent first.
    """
    width = frame.samples / whole
    if width * _WIDTH < _NARROWEST:
        return
    yield Box(frame.name, depth, left, width, frame.samples)
    for each in sorted(frame.inner.values(), key=lambda inner: -inner.samples):
        yield from boxes(each, whole, depth + 1, left)
        left += each.samples / whole


def svg(root: Frame) -> str:
    """Return the picture. A tooltip shows the full name and the share of a box."""
    drawn = [*boxes(root, max(1, root.samples))]
    height = (max(box.depth for box in drawn) + 1) * _ROW if drawn else _ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {height}" '
        f'font-family="monospace" font-size="11">'
    )
    return "\n".join((head, *map(_box, drawn), "</svg>", ""))


def _box(box: Box) -> str:
    x, y, width = box.left * _WIDTH, box.depth * _ROW, box.width * _WIDTH
    fits = int((width - 4) / _CHARACTER)
    text = (
        f'<text x="{x + 2:.1f}" y="{y + 12}">{escape(box.name[:fits])}</text>' if fits > 2 else ""
    )
    title = f"<title>{escape(box.name)}: {box.width:.1%}</title>"
    rect = (
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_ROW - 1}" '
        f'fill="{_colour(box.name)}"/>'
    )
    return f"<g>{title}{rect}{text}</g>"


def _colour(name: str) -> str:
    return next((colour for part, colour in _COLOURS if part in name), _OTHER)


def main() -> None:
    """Draw a flame graph of recorded stacks into an SVG file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.measuring.flame", description=__doc__
    )
    parser.add_argument("stacks", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    root = tree(arguments.stacks.read_text(encoding="utf-8").splitlines())
    arguments.picture.write_text(svg(root), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Pictures of the documentation: SVG from text files in docs/pictures.

Each line of a text file is one of these; positions and sizes are in cells of a grid:

    title TEXT                                    what a screen reader says
    box ID COLUMN ROW [WIDTH] | first line | further line | …
    frame COLUMN ROW WIDTH HEIGHT | label
    arrow ID ID | label
    # a comment

An arrow is straight: between the facing sides of two boxes beside each other, else from one box
down or up to the other.
"""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template
from typing import Final

_CELL_WIDTH: Final = 205
"""Width of a cell in pixels, with the gap to the next box."""
_CELL_HEIGHT: Final = 110
"""Height of a cell in pixels, with the gap to the next box."""
_GAP_X: Final = 60
_GAP_Y: Final = 44
_MARGIN: Final = 24
_LINE: Final = 16
"""Height of a line of text in pixels."""
_TEMPLATE: Final = Template((Path(__file__).parent / "picture.svg").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class _Area:
    """A rectangle in pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """Return x and y of the centre."""
        return self.left + self.width / 2, self.top + self.height / 2


@dataclass(slots=True)
class _Drawing:
    """What was drawn so far."""

    title: str = ""
    boxes: dict[str, _Area] = field(default_factory=dict)
    shapes: list[str] = field(default_factory=list)
    right: float = 0
    bottom: float = 0


def svg(source: str) -> str:
    """Return the picture that the text describes.

    Raises ValueError for a line of another form.
    """
    drawing = _Drawing()
    for line in source.splitlines():
        if line.strip() and not line.startswith("#"):
            _draw(drawing, line)
    return _TEMPLATE.substitute(
        title=escape(drawing.title),
        width=f"{drawing.right + _MARGIN:g}",
        height=f"{drawing.bottom + _MARGIN:g}",
        shapes="\n".join(drawing.shapes),
    )


def _draw(drawing: _Drawing, line: str) -> None:
    head, *texts = (piece.strip() for piece in line.split("|"))
    kind, *words = head.split()
    if kind == "title":
        drawing.title = " ".join(words)
    elif kind == "box":
        _draw_box(drawing, words, texts)
    elif kind == "frame":
        _draw_frame(drawing, words, texts)
    elif kind == "arrow":
        start, end = (drawing.boxes[word] for word in words)
        _draw_arrow(drawing, start, end, " ".join(texts))
    else:
        raise ValueError(f"unknown line: {line}")


def _draw_box(drawing: _Drawing, words: list[str], texts: list[str]) -> None:
    name, column, row, *wide = words
    cells = float(wide[0]) if wide else 1
    area = _Area(
        _MARGIN + float(column) * _CELL_WIDTH,
        _MARGIN + float(row) * _CELL_HEIGHT,
        cells * _CELL_WIDTH - _GAP_X,
        _CELL_HEIGHT - _GAP_Y,
    )
    drawing.boxes[name] = area
    _rectangle(drawing, area, "b")
    x, y = area.middle
    top = y - (len(texts) - 1) * _LINE / 2 + 4
    drawing.shapes += [
        _text(x, top + number * _LINE, text, "s" if number else "h")
        for number, text in enumerate(texts)
    ]


def _draw_frame(drawing: _Drawing, words: list[str], texts: list[str]) -> None:
    column, row, wide, high = (float(word) for word in words)
    left, top = _MARGIN + column * _CELL_WIDTH - 14, _MARGIN + row * _CELL_HEIGHT - 24
    area = _Area(left, top, wide * _CELL_WIDTH - _GAP_X + 28, high * _CELL_HEIGHT - _GAP_Y + 38)
    _rectangle(drawing, area, "f")
    drawing.shapes.append(_text(area.middle[0], top + 15, " ".join(texts), "s"))


def _rectangle(drawing: _Drawing, area: _Area, style: str) -> None:
    drawing.right = max(drawing.right, area.left + area.width)
    drawing.bottom = max(drawing.bottom, area.top + area.height)
    place = f'x="{area.left:g}" y="{area.top:g}" width="{area.width:g}" height="{area.height:g}"'
    drawing.shapes.append(f'<rect class="{style}" {place} rx="6"/>')


def _draw_arrow(drawing: _Drawing, start: _Area, end: _Area, label: str) -> None:
    (x1, y1), (x2, y2) = _ends(start, end)
    drawing.shapes.append(f'<line class="a" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>')
    if label:
        beside = 6 + 3 * len(label) if x1 == x2 else 0
        drawing.shapes.append(
            _text((x1 + x2) / 2 + beside, (y1 + y2) / 2 + (4 if beside else -6), label, "s")
        )


def _ends(start: _Area, end: _Area) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where the arrow leaves the first box and where it meets the second one: beside each
    other, or one above the other.
    """
    (x1, y1), (x2, y2) = start.middle, end.middle
    if start.left + start.width <= end.left or end.left + end.width <= start.left:
        forward = x1 < x2
        return (start.left + start.width * forward, y1), (end.left + end.width * (not forward), y2)
    downward = y1 < y2
    x = x1 if end.left <= x1 <= end.left + end.width else x2
    return (x, start.top + start.height * downward), (x, end.top + end.height * (not downward))


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(text)}</text>'

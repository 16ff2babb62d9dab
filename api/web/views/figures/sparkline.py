"""Draws a small chart without axes as an SVG path."""

from collections.abc import Sequence
from typing import Final

WIDTH: Final = 88
HEIGHT: Final = 22
_FLOOR: Final = HEIGHT - 1
_TOP: Final = 3


def spark_path(values: Sequence[float | None]) -> str:
    """Return the attribute `d` of an SVG path through the values; None, a gap, interrupts the
    line.
    """
    greatest = max((each for each in values if each is not None), default=0.0)
    step = WIDTH / max(1, len(values) - 1)
    parts, drawn = list[str](), False
    for at, value in enumerate(values):
        if value is None:
            drawn = False
            continue
        share = value / greatest if greatest else 0.0
        parts.append(
            f"{'L' if drawn else 'M'}{at * step:.0f} {_FLOOR - share * (_FLOOR - _TOP):.1f}"
        )
        drawn = True
    return "".join(parts)

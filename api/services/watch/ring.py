"""Stores the newest values of one metric in buckets of equal length; the oldest are overwritten."""

from array import array
from collections.abc import Sequence
from math import isnan, nan
from typing import Literal

Fold = Literal["mean", "max"]
"""How several values of one bucket are combined into one."""


class Ring:
    """The newest `size` buckets of `step_s` seconds. A bucket without a value is a gap.

    If the clock is set back, the buckets after the new time are removed.
    """

    def __init__(self, step_s: int, size: int, fold: Fold) -> None:
        self.step_s = step_s
        self._fold: Fold = fold
        self._values = array("f", [nan]) * size
        self._newest: int | None = None
        self._count = 0

    def put(self, at_s: float, value: float | None) -> None:
        """Add a value at a time in Unix seconds. None adds no value, but removes buckets that are
        too old.
        """
        bucket = int(at_s // self.step_s)
        if bucket != self._newest:
            self._move_to(bucket)
        if value is not None:
            slot = bucket % len(self._values)
            self._values[slot] = self._joined(self._values[slot], value)
            self._count += 1

    def read(self, until_s: float, count: int) -> list[float | None]:
        """Return the last `count` buckets up to the time `until_s` (Unix seconds), the oldest
        first; None for a bucket without a value.
        """
        last = int(until_s // self.step_s)
        oldest, size = last - count + 1, len(self._values)
        newest = oldest - 1 if self._newest is None else self._newest
        begin, end = max(oldest, newest - size + 1), min(last, newest)
        if begin > end:
            return [None] * count
        kept = self._slots(begin % size, end - begin + 1)
        # A value that differs from itself is the NaN of a gap.
        values = [each if each == each else None for each in kept]
        return [*[None] * (begin - oldest), *values, *[None] * (last - end)]

    def _slots(self, first: int, count: int) -> Sequence[float]:
        """Return this many values from a slot on, across the end of the array."""
        over = first + count - len(self._values)
        if over <= 0:
            return self._values[first : first + count]
        return self._values[first:] + self._values[:over]

    def _joined(self, before: float, value: float) -> float:
        if self._count == 0 or isnan(before):
            return value
        if self._fold == "max":
            return max(before, value)
        return before + (value - before) / (self._count + 1)

    def _move_to(self, bucket: int) -> None:
        newest, size = self._newest, len(self._values)
        if newest is None or abs(bucket - newest) >= size:
            self._clear(range(size))
        elif bucket > newest:
            self._clear(range(newest + 1, bucket + 1))
        else:
            self._clear(range(bucket + 1, newest + 1))
        self._newest = bucket
        self._count = 0 if isnan(self._values[bucket % size]) else 1

    def _clear(self, buckets: range) -> None:
        for bucket in buckets:
            self._values[bucket % len(self._values)] = nan


def folded(values: Sequence[float | None], points: int, fold: Fold) -> list[float | None]:
    """Combine neighbouring values, so that at most `points` values remain.

    values  the values; their number must be a multiple of `points`, or at most `points`
    points  largest number of values in the result
    fold    "max": a combined value is the greatest one; otherwise it is the average
    """
    width = max(1, len(values) // points)
    groups = (values[at : at + width] for at in range(0, len(values), width))
    return [_one([each for each in group if each is not None], fold) for group in groups]


def _one(values: list[float], fold: Fold) -> float | None:
    if not values:
        return None
    return max(values) if fold == "max" else sum(values) / len(values)

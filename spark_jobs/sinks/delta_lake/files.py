"""Finds the files of a Delta table that may contain some keys, by the statistics in its log."""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import takewhile
from operator import or_
from typing import Any, Final, TypeAlias

import orjson
import pyspark.sql.functions as sf
from pyspark.sql import Column

KeyRange: TypeAlias = tuple[str, str]
"""The least and the greatest of some keys.

Python compares texts by code points. That is the order of their UTF-8 bytes, which Spark uses.
"""
_BYTES_COMPARED: Final = 8


def bounds(statistics: str | None, column: str) -> KeyRange | None:
    """Return the smallest and the greatest key of a file by its statistics; None if they do not
    contain them.

    statistics  Delta's JSON (PROTOCOL.md, "Per-file Statistics"); None: the file has none
    column      name of the key's column in the file

    The range may be wider than the keys of the file. One reason is that rows may have been removed
    from it. The other is that Delta truncates long texts: the smallest key to a smaller text, the
    greatest key to a greater text.
    """
    told: dict[str, Any] = orjson.loads(statistics) if statistics else {}
    least, greatest = (told.get(side, {}).get(column) for side in ("minValues", "maxValues"))
    return None if least is None or greatest is None else (least, greatest)


def meets(held: KeyRange | None, ranges: Iterable[KeyRange]) -> bool:
    """Return whether a file may contain a key of one of the `ranges`.

    `held` is the range of the file's keys; None: this range is unknown, so the result is True.
    """
    return held is None or any(first <= held[1] and held[0] <= last for first, last in ranges)


def spanned(files: Sequence[KeyRange | None]) -> KeyRange | None:
    """Return the smallest range that contains the key ranges of all `files`.

    Returns None if the range of a file is unknown (None), or if there are no files.
    """
    known = [each for each in files if each is not None]
    if not known or len(known) < len(files):
        return None
    return min(least for least, _ in known), max(greatest for _, greatest in known)


def share(ranges: Iterable[KeyRange], span: KeyRange) -> float:
    """Return the estimated share (0 to 1) of the keys in `span` that are in one of the `ranges`.

    The estimate assumes that texts are evenly distributed.
    """
    ends = zip(*map(_bytes, span), strict=False)
    shared = sum(1 for _ in takewhile(lambda both: both[0] == both[1], ends))
    covered = [(max(first, span[0]), min(last, span[1])) for first, last in ranges]
    widths = (
        _number(last, shared) - _number(first, shared) for first, last in covered if first <= last
    )
    return sum(widths) / max(_number(span[1], shared) - _number(span[0], shared), 1)


def within(column: str, ranges: Iterable[KeyRange]) -> Column:
    """Return the condition that the key in `column` is in one of the ranges."""
    return reduce(
        or_, (sf.col(column).between(*map(sf.lit, each)) for each in ranges), sf.lit(False)
    )


def _number(text: str, behind: int) -> int:
    return int.from_bytes(
        _bytes(text)[behind : behind + _BYTES_COMPARED].ljust(_BYTES_COMPARED, b"\0")
    )


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")

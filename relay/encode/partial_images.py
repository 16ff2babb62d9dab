"""Finds the known values of rows whose images lack columns (binlog_row_image MINIMAL, NOBLOB,
FULL_NODUP).
"""

from collections.abc import Sequence

import orjson

from relay.envelope import Header
from relay.model.change import RowChange
from relay.model.message import Headers
from relay.model.value import ABSENT, Row


def completed(change: RowChange) -> RowChange:
    """Return an update whose image after also has the unchanged values of the image before.

    If only the image before has a column, the update did not write it (MySQL manual:
    binlog_row_image), so its value is unchanged.
    """
    before, after = change
    if before is None or after is None or ABSENT not in after:
        return change
    return RowChange(
        before, tuple(old if new is ABSENT else new for old, new in zip(before, after, strict=True))
    )


def lacking_columns(change: RowChange) -> Sequence[int]:
    """Return the ordinals of the columns that an image of the change lacks."""
    images = [image for image in change if image is not None]
    return [ordinal for ordinal, values in enumerate(zip(*images, strict=True)) if ABSENT in values]


def unknown_headers(change: RowChange, names: Sequence[str]) -> Headers:
    """Return the header that names the columns without a known value; no header if all values are
    known.

    `change` is a result of `completed`. The header has two lists. `data`: columns without a known
    value. `old`: columns of an update that may have changed, and whose former value is unknown.
    """
    image: Row = (change.before if change.after is None else change.after) or ()
    unknown = {"data": _absent(image, names)}
    if change.before is not None and change.after is not None:
        former = [name for name in _absent(change.before, names) if name not in unknown["data"]]
        unknown["old"] = former
    if not any(unknown.values()):
        return ()
    return ((Header.UNKNOWN.value, orjson.dumps(unknown)),)


def _absent(row: Row, names: Sequence[str]) -> list[str]:
    return [name for name, value in zip(names, row, strict=True) if value is ABSENT]

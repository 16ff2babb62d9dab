"""Finds the published table that has the same columns as an unmapped table."""

from api.models.mappings.unmapped import LikeColumnsView
from relay.state import DroppedName


def like_columns(dropped: DroppedName) -> LikeColumnsView | None:
    """Return the published table whose columns the relay found to be like those of the unmapped
    table `dropped`; None if it found none.
    """
    if not dropped.like:
        return None
    common, every = dropped.like_common, dropped.like_all
    what = "the same columns as" if common == every else f"{common} of {every} columns are those of"
    return LikeColumnsView(
        table=dropped.like, common=common, all=every, sentence=f"{what} {dropped.like}"
    )

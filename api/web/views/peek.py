"""Computes the data of the page of a table's messages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from api.models.peek import PeekedRowView
from api.services.peek import AskedPeek, PeekOffsets
from relay.operations import PeekPage

STARTS: Final = (
    ("last", "The last 50"),
    ("now", "From now on"),
    ("5m", "The last 5 minutes"),
    ("1h", "The last hour"),
    ("1d", "The last day"),
)
_PARTS: Final = 3


class RowLocation(NamedTuple):
    """The location of a row: partition, offset, and its number within the message."""

    partition: int
    offset: int
    row: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the location in `text` (`partition:offset:row`, as links to a row have it); None
        if the text has another form.
        """
        parts = text.split(":")
        if len(parts) != _PARTS or not all(each.isascii() and each.isdecimal() for each in parts):
            return None
        return cls(*map(int, parts))


@dataclass(frozen=True, slots=True)
class PeekView:
    """The rows, the newest first, and the row whose columns are shown.

    chosen    the row whose columns are shown; None: there are no rows
    searched  sentence about an incomplete search; empty: the search was complete
    after     id of the event after which the stream continues
    is_gone   whether the row in the link does not exist any more
    """

    rows: Sequence[PeekedRowView] = ()
    chosen: PeekedRowView | None = None
    searched: str = ""
    after: str = ""
    is_gone: bool = False


def view_of(
    page: PeekPage | None,
    rows: Sequence[PeekedRowView],
    chosen: PeekedRowView | None,
    *,
    is_gone: bool,
) -> PeekView:
    """Return the data of the page.

    page     the result of reading; None: no table is selected
    rows     the rows of `page` as views
    chosen   the row that the link names; None: the columns of the newest row are shown
    is_gone  whether the row in the link does not exist any more
    """
    searched = ""
    if page is not None and not page.complete and not rows:
        searched = f"The newest {page.searched:,} offsets of the topic contain no row that matches."
    after = "" if page is None else PeekOffsets(page.after).text
    newest = rows[0] if rows and not is_gone else None
    return PeekView(rows, chosen or newest, searched, after, is_gone)


def stream_body(asked: AskedPeek, view: PeekView) -> str:
    """Return the JSON body of the request that streams the messages after those of the page."""
    fields = {"table": asked.table, "op": asked.operation, "key": asked.key, "from": asked.start}
    return json.dumps({**fields, "after": view.after})

"""The same stretch as the relay reads it: row events and statements of whole transactions, in the
binlog's order.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from relay.decode import RowDecoder
from relay.errors import RolledBackRows
from relay.model.change import (
    Advance,
    RawRows,
    RowsEvent,
    Statement,
    TransactionBegin,
    TransactionEnd,
)
from relay.model.positions.position import BinlogPosition
from relay.settings import SourceSettings, StartSettings
from relay.source import ExcludedRange, open_source


class OwnEvent(NamedTuple):
    """A row event or a statement, and where it begins.

    What lies in a compressed transaction is where that begins.
    """

    position: BinlogPosition
    content: RowsEvent | Statement


def own_events(
    settings: SourceSettings, replica: str, start: BinlogPosition, until: BinlogPosition
) -> Iterator[OwnEvent]:
    """Yield what the relay reads from `start`, the beginning of a transaction, up to `until`.

    `replica` names this reader at the source. Rows that the source rolled back are yielded until
    their roll-back is read. Raises Unreachable, a Stop or ConfigurationError.
    """
    excluded: list[ExcludedRange] = []
    begin, seen = start, (-1, -1)
    while True:
        place = StartSettings(at="position", journal_name=begin.file, position=begin.offset)
        with closing(
            open_source(
                settings, None, place, excluded=excluded, replica=replica, whole_images=False
            )
        ) as stream:
            decoder = RowDecoder()
            try:
                for item in stream.items():
                    if isinstance(item, TransactionBegin):
                        begin = item.position
                    elif (
                        isinstance(item, RawRows | Statement)
                        and seen < item.position.rank < until.rank
                    ):
                        yield OwnEvent(
                            item.position,
                            decoder.decode(item) if isinstance(item, RawRows) else item,
                        )
                        newest = item.position.rank
                    elif (
                        isinstance(item, TransactionEnd | Advance)
                        and item.position.rank >= until.rank
                    ):
                        return
            except RolledBackRows as exc:
                excluded.extend(exc.ranges)
                seen = newest

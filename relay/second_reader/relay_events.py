"""Reads a range of a binlog as the relay does: row events and statements of whole transactions, in
the binlog's order.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

from relay.decode import RowDecoder
from relay.errors import RolledBackRows
from relay.model.change import (
    Advance,
    RawItem,
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

    Events in a compressed transaction have the position of the transaction.
    """

    position: BinlogPosition
    content: RowsEvent | Statement


def own_events(
    settings: SourceSettings, replica: str, start: BinlogPosition, until: BinlogPosition
) -> Iterator[OwnEvent]:
    """Yield the relay's events from `start`, the beginning of a transaction, up to `until`.

    `replica` names this reader at the source. Rows that the source rolled back are yielded until
    their roll-back is read. Raises Unreachable, a Stop or ConfigurationError.
    """
    excluded: list[ExcludedRange] = []
    reading = _Reading(start)
    while True:
        place = StartSettings(
            at="position", journal_name=reading.begin.file, position=reading.begin.offset
        )
        opened = open_source(
            settings, None, place, excluded=excluded, replica=replica, whole_images=False
        )
        with closing(opened) as stream:
            try:
                yield from reading.events(stream.items(), until)
            except RolledBackRows as exc:
                excluded.extend(exc.ranges)
            else:
                return


class _Reading:
    """Yields events over several connections, each event once.

    begin  begin of the newest transaction; after a rollback, reading begins there again
    seen   rank of the newest yielded event; events up to it are not yielded again
    """

    def __init__(self, start: BinlogPosition) -> None:
        self.begin = start
        self.seen = (-1, -1)

    def events(self, items: Iterable[RawItem], until: BinlogPosition) -> Iterator[OwnEvent]:
        """Yield the events that were not yielded before, up to the end of the transaction at
        `until`.
        """
        decoder = RowDecoder()
        newest = self.seen
        try:
            for item in items:
                if isinstance(item, TransactionBegin):
                    self.begin = item.position
                elif isinstance(item, RawRows | Statement):
                    if self.seen < item.position.rank < until.rank:
                        content = decoder.decode(item) if isinstance(item, RawRows) else item
                        yield OwnEvent(item.position, content)
                        newest = item.position.rank
                elif (
                    isinstance(item, TransactionEnd | Advance) and item.position.rank >= until.rank
                ):
                    return
        finally:
            self.seen = newest

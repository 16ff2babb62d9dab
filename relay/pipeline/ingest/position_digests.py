"""What identifies each place of the stream on every server that replicates it: noted by the reading
thread, kept with the position.
"""

from collections import deque
from collections.abc import Callable, Iterator
from time import time

from relay.model.change import Advance, RawItem, TransactionEnd
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import PositionRecord
from relay.model.records.resume_fingerprint import PublishedPlace
from relay.model.records.transaction_digest import TransactionDigest


class PublishedPlaces:
    """One thread reads through `followed`, another one asks `at` for places in the order in which
    they were passed.

    What lies before the record is not known: landmarks are taken from the seconds that come after
    this one.
    """

    def __init__(
        self,
        start: BinlogPosition,
        record: PositionRecord | None,
        skew_seconds: float,
        clock: Callable[[], float] = time,
    ) -> None:
        known = record.place if record is not None else None
        self._reached = start, known or PublishedPlace(int(clock()))
        self._newest = self._reached
        self._passed: deque[tuple[BinlogPosition, PublishedPlace]] = deque()
        self._skew_s = skew_seconds
        self._clock = clock
        self._digest = TransactionDigest()

    def followed(self, items: Iterator[RawItem]) -> Iterator[RawItem]:
        """The same items; their place is noted before each is handed on."""
        for item in items:
            if isinstance(item, TransactionEnd):
                self._end(item.position)
            elif isinstance(item, Advance):
                self._pass(item.position, self._newest[1])
            else:
                self._digest.take(item)
            yield item

    def at(self, position: BinlogPosition) -> PublishedPlace:
        """What identifies the place at a position that was passed; earlier ones are forgotten."""
        while self._reached[0] != position:
            if not self._passed:
                return PublishedPlace(int(self._clock()))
            self._reached = self._passed.popleft()
        return self._reached[1]

    def _end(self, position: BinlogPosition) -> None:
        transaction, place = self._digest.ended(), self._newest[1]
        self._pass(
            position,
            place
            if transaction is None
            else place.behind(transaction, self._clock() + self._skew_s),
        )

    def _pass(self, position: BinlogPosition, place: PublishedPlace) -> None:
        if position != self._newest[0]:
            self._newest = position, place
            self._passed.append(self._newest)

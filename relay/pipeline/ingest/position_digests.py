"""Computes digests of the stream's positions. A digest identifies its position on every server that
replicates the same transactions.

The digests are stored with the position.
"""

from collections import deque
from collections.abc import Callable, Iterator
from time import time

from relay.model.change import Advance, RawItem, TransactionEnd
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import PositionRecord
from relay.model.records.resume_fingerprint import ResumeFingerprint
from relay.model.records.transaction_digest import TransactionDigest


class FingerprintRecorder:
    """Computes the digest of each position. One thread reads the items through `followed`; another
    one calls `at` for positions in the order of the stream.

    start         where the stream begins
    record        the position record there
    skew_seconds  how far commit times may be ahead of the clock
    clock         returns the time in Unix seconds
    """

    def __init__(
        self,
        start: BinlogPosition,
        record: PositionRecord | None,
        skew_seconds: float,
        clock: Callable[[], float] = time,
    ) -> None:
        known = record.place if record is not None else None
        self._reached = start, known or ResumeFingerprint(int(clock()))
        self._newest = self._reached
        self._passed: deque[tuple[BinlogPosition, ResumeFingerprint]] = deque()
        self._skew_s = skew_seconds
        self._clock = clock
        self._digest = TransactionDigest()

    def followed(self, items: Iterator[RawItem]) -> Iterator[RawItem]:
        """Yield the same items, and record the digest of each position before its item
        is yielded.
        """
        for item in items:
            if isinstance(item, TransactionEnd):
                self._end(item.position)
            elif isinstance(item, Advance):
                self._pass(item.position, self._newest[1])
            else:
                self._digest.take(item)
            yield item

    def at(self, position: BinlogPosition) -> ResumeFingerprint:
        """Return the digest of a position that was read, and drop those of earlier positions.

        A position that was never read gets an empty digest, which proves nothing.
        """
        while self._reached[0] != position:
            if not self._passed:
                return ResumeFingerprint(int(self._clock()))
            self._reached = self._passed.popleft()
        return self._reached[1]

    def _end(self, position: BinlogPosition) -> None:
        transaction, fingerprint = self._digest.ended(), self._newest[1]
        self._pass(
            position,
            fingerprint
            if transaction is None
            else fingerprint.behind(transaction, self._clock() + self._skew_s),
        )

    def _pass(self, position: BinlogPosition, fingerprint: ResumeFingerprint) -> None:
        if position != self._newest[0]:
            self._newest = position, fingerprint
            self._passed.append(self._newest)

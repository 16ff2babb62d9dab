"""Reads a source transaction to its end before a part of it is published, so that no part holds
rows that the source rolled back.

The position record of a part counts only rows that were not rolled back. So every later read of the
transaction, on any server, counts the same rows (ADR 43).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Final

from relay.errors import BatchAborted, SavepointRolledBack, TransactionUnread
from relay.model.change import TransactionBegin
from relay.model.records.position_record import SplitProgress
from relay.pipeline.ingest.compiled_events import event_scanner
from relay.pipeline.ingest.open_sources import OpenSource
from relay.pipeline.rollback_memory import RolledBack
from relay.pipeline.spooling.spool_stream import SpooledStream
from relay.settings import SourceSettings
from relay.source import ExcludedRange, find_rolled_back

_POLL_INTERVAL_SECONDS: Final = 0.1
_LONGEST_REST_SECONDS: Final = 1.0
"""Pause between two attempts to read to the transaction's end, each from its first event."""
_REREAD: Final = "it is read again without them."

FindRolledBack = Callable[
    [SourceSettings, TransactionBegin, Callable[[], bool]], tuple[ExcludedRange, ...] | None
]


def _find(
    settings: SourceSettings, begin: TransactionBegin, cancelled: Callable[[], bool]
) -> tuple[ExcludedRange, ...] | None:
    return find_rolled_back(settings, begin.position, event_scanner(), cancelled)


@dataclass(frozen=True, slots=True)
class GuardedSource:
    """A source whose transactions the guard reads to their end.

    server  the server from which it is read
    source  its present stream, which leaves out the rolled-back rows that were known when it was
            opened
    known   the rolled-back rows that are known now; a reading thread may have found more since
    """

    server: SourceSettings
    source: OpenSource
    known: RolledBack

    @property
    def left_out(self) -> frozenset[ExcludedRange]:
        """The rolled-back rows that the present stream leaves out."""
        return self.source.stream.left_out

    def is_known(self, begin: TransactionBegin) -> bool:
        """Return whether the transaction was already read to its end, and the present stream leaves
        out its rolled-back rows.

        After the spool, the stream may still contain some of these rows, because another thread
        opened that stream, perhaps before the rows were known.
        """
        return self.known.read == begin.position and self.left_out.issuperset(
            self.known.of_transaction(begin.position)
        )

    @property
    def spooled(self) -> bool:
        """Return whether the present items come from the spool, which holds only whole transactions
        without rolled-back rows.
        """
        return isinstance(self.source.stream, SpooledStream) and self.source.stream.from_disk


class PartGuard:
    """Ensures that no published part of a transaction holds rolled-back rows; used by the
    publishing thread.

    sources    name → source
    budget_s   how many seconds a check may take while a Kafka transaction is open
    cancelled  returns True to end a wait
    stop       set when the instance must end
    """

    def __init__(
        self,
        sources: Mapping[str, GuardedSource],
        budget_s: float,
        cancelled: Callable[[], bool],
        stop: Event,
        find: FindRolledBack = _find,
    ) -> None:
        self._sources = sources
        self._budget_s = budget_s
        self._cancelled = cancelled
        self._stop = stop
        self._find = find

    def reads_first(
        self, source: str, begin: TransactionBegin, split: SplitProgress | None
    ) -> bool:
        """Return whether `read` must be called before the transaction's first row is published.

        source  name of the transaction's source
        begin   the begin of the transaction
        split   its part that is already published; None: no part is published

        The result is True if a part is already published. It is also True if a part was due in an
        earlier run, and the end of the transaction was not found in time. It is False for items
        from the spool, and for a transaction that was already read to its end.
        """
        guarded = self._sources[source]
        if guarded.spooled or guarded.is_known(begin):
            return False
        return split is not None or guarded.known.unread == begin.position

    def read(self, source: str, begin: TransactionBegin, split: SplitProgress | None) -> None:
        """Read the transaction to its end, and wait until its end is in the binlog; no Kafka
        transaction may be open.

        source  name of the transaction's source
        begin   the begin of the transaction
        split   its part that is already published; None: no part is published

        Raises BatchAborted if the transaction must be read again without its rolled-back rows, or
        if the wait is cancelled. Raises SavepointRolledBack if the transaction has rolled-back rows
        and an older version of the relay published the part, because that version may have counted
        them.
        """
        guarded, poll, began_s = self._sources[source], _Poll(self._cancelled), monotonic()
        while (found := self._find(guarded.server, begin, poll)) is None:
            # A reading takes as long as the transaction is large: the source is not read without a
            # rest.
            rest_s = min(max(_POLL_INTERVAL_SECONDS, monotonic() - began_s), _LONGEST_REST_SECONDS)
            if poll.ended or self._stop.wait(rest_s):
                raise BatchAborted("The instance continues to read from its position.")
            began_s = monotonic()
        if found and split is not None and not split.without_rolled_back:
            raise SavepointRolledBack(
                f"A former version of the relay published {split.items_done} changes of the "
                f"transaction at {begin.position}, and may have counted rows that the source "
                "rolled back. So it is unknown which changes remain."
            )
        self._note(guarded, begin, found)

    def before_part(self, source: str, begin: TransactionBegin) -> None:
        """Check that no row of the transaction was rolled back, before a part of it is committed.

        Raises BatchAborted if the transaction must be read again without its rolled-back rows, and
        TransactionUnread if its end was not found in `budget_s` seconds.
        """
        guarded = self._sources[source]
        if guarded.spooled or guarded.is_known(begin):
            return
        ends_s = monotonic() + self._budget_s
        patient = guarded.server.model_copy(
            update={
                "read_timeout_seconds": min(guarded.server.read_timeout_seconds, self._budget_s)
            }
        )
        found = self._find(patient, begin, lambda: monotonic() > ends_s)
        if found is None:
            guarded.known.unread = begin.position
            reason = (
                f"The relay must publish a part of the transaction at {begin.position}, but "
                f"could not read the transaction to its end within {self._budget_s:g} s."
            )
            raise TransactionUnread(reason)
        self._note(guarded, begin, found)

    def _note(
        self, guarded: GuardedSource, begin: TransactionBegin, found: tuple[ExcludedRange, ...]
    ) -> None:
        known = guarded.known
        known.read, known.unread = begin.position, None
        if not guarded.left_out.issuperset(found):
            known.leave_out(found)
            raise BatchAborted(
                f"Rows of the transaction at {begin.position} were rolled back on the source; "
                f"{_REREAD}"
            )


class _Poll:
    """Calls `cancelled`, which may be slow, only for some events; `ended` is its last result."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self.ended = False
        self._cancelled = cancelled
        self._next_s = 0.0

    def __call__(self) -> bool:
        if not self.ended and monotonic() >= self._next_s:
            self._next_s = monotonic() + _POLL_INTERVAL_SECONDS
            self.ended = self._cancelled()
        return self.ended

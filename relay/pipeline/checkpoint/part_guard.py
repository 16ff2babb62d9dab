"""Reads a source transaction to its end before a part of it is published, so that no part holds
rows that the source rolled back.

The record of a part counts the rows that were kept, which every later reading counts alike, on this
server or on another one (ADR 43).
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
"""Between two readings that did not meet the end. Each begins at the transaction's first event."""
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
    """A source that is read from `server`, and what is known of its rolled-back rows.

    `left_out` are those that are left out by the reading that goes on; a reader thread adds what it
    meets to `known` meanwhile.
    """

    server: SourceSettings
    source: OpenSource
    known: RolledBack
    left_out: frozenset[ExcludedRange]

    @classmethod
    def opened(
        cls, server: SourceSettings, source: OpenSource, known: RolledBack
    ) -> "GuardedSource":
        """Return it for a source that was opened and is not read yet."""
        return cls(server, source, known, frozenset(known.ranges))

    @property
    def spooled(self) -> bool:
        """Whether what is read now lies in the spool, which holds nothing but whole transactions
        without rolled-back rows.
        """
        return isinstance(self.source.stream, SpooledStream) and self.source.stream.from_disk


class PartGuard:
    """Used by the publishing thread.

    `budget_s` is how long an open Kafka transaction may wait; `cancelled` ends every wait.

    `stop` is set when the instance must end.
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
        """Whether `read` must come before the transaction's first row: a part of it is published,
        or was due before its end was read.
        """
        guarded = self._sources[source]
        if guarded.spooled or guarded.known.read == begin.position:
            return False
        return split is not None or guarded.known.unread == begin.position

    def read(self, source: str, begin: TransactionBegin, split: SplitProgress | None) -> None:
        """Read the transaction to its end, and wait for that; nothing may be open in Kafka.

        Raises BatchAborted where it must be read again without some rows, and SavepointRolledBack
        where a former version's part may count such rows.
        """
        guarded, poll, began_s = self._sources[source], _Poll(self._cancelled), monotonic()
        while (found := self._find(guarded.server, begin, poll)) is None:
            # A reading takes as long as the transaction is large: the source is not read without a
            # rest.
            rest_s = min(max(_POLL_INTERVAL_SECONDS, monotonic() - began_s), _LONGEST_REST_SECONDS)
            if poll.ended or self._stop.wait(rest_s):
                raise BatchAborted("The instance reads on from its position.")
            began_s = monotonic()
        if found and split is not None and not split.without_rolled_back:
            raise SavepointRolledBack(
                f"A former version published {split.items_done} changes of the transaction at "
                f"{begin.position}, and may have counted rows "
                "that the source rolled back: which ones are left is not known."
            )
        self._note(guarded, begin, found)

    def before_part(self, source: str, begin: TransactionBegin) -> None:
        """Make sure that no row of the transaction was rolled back, before a part of it is
        committed.

        Raises BatchAborted where it must be read again without some rows, and TransactionUnread
        where its end was not met in time.
        """
        guarded = self._sources[source]
        if guarded.spooled or guarded.known.read == begin.position:
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
                f"A part of the transaction at {begin.position} is due, and its end was not met "
                f"within {self._budget_s:g} s."
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
    """Asks `cancelled`, which may ask others, not at each event; `ended` says what it answered."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self.ended = False
        self._cancelled = cancelled
        self._next_s = 0.0

    def __call__(self) -> bool:
        if not self.ended and monotonic() >= self._next_s:
            self._next_s = monotonic() + _POLL_INTERVAL_SECONDS
            self.ended = self._cancelled()
        return self.ended

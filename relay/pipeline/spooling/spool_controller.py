"""Decides when a source is read into the spool of its instance, and when items come from there."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

import structlog

from relay.errors import BinlogPurged, GoesToSpool, SpoolUnusable, Unreachable
from relay.model.positions.position import SourcePosition
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.ingest.open_source import open_for
from relay.pipeline.rollback_memory import RolledBack
from relay.pipeline.spooling.spool_stream import SpooledStream
from relay.pipeline.spooling.spool_view import SpoolView, spool_view
from relay.pipeline.spooling.spool_writer import SpoolWriter
from relay.settings import InstanceSettings, SourceSettings
from relay.source import ExcludedRange, SourceStream
from relay.spool import OwnedFolder, Spool
from relay.threads import RelayThread

_NOTE_SECONDS: Final = 10.0
"""Seconds of binlog that a relay may read again if it starts while Kafka is unavailable."""
_REST_SECONDS: Final = 60.0
"""Pause in seconds after the disk refused a write."""

_LOSS: Final = (
    "The spool on this relay's disk was cut as well: {}. The missing transactions may have been "
    "there."
)

_log = structlog.stdlib.get_logger(__name__)


class SpoolController:
    """The spool of one instance while this relay leads it. With `spool = "memory"` it does nothing.
    The spool is a copy of a range of the source's binlog. The committed position alone decides
    which row is published next. A spool that does not contain that position between two
    transactions is deleted.
    """

    def __init__(
        self,
        installation: str,
        instance: InstanceSettings,
        stats: InstanceStats,
        rolled_back: RolledBack,
        leads: Callable[[], bool],
    ) -> None:
        """`rolled_back`: known rolled-back rows. `leads` asks ZooKeeper if this relay leads."""
        self._instance = instance
        self._leads = leads
        self._rolled_back = rolled_back
        self._stats = stats
        self._installation = installation
        settings = instance.spooling
        self._folder = (
            settings.directory / installation / instance.name
            if settings.directory and instance.spool == "mixed"
            else None
        )
        self._after_s = settings.after_seconds
        self._source = instance.source
        self._owned: OwnedFolder | None = None
        self._spool: Spool | None = None
        self._filling: SpoolWriter | None = None
        self._stream: SpooledStream | None = None
        self._problem = ""
        self._loss = ""
        self._not_before_s = self._note_at_s = 0.0
        self._lock = threading.Lock()

    @property
    def enabled(self) -> bool:
        """Return whether the instance has a folder for a spool."""
        return self._folder is not None

    @property
    def view(self) -> SpoolView:
        """The present state of the spool; reading it needs no I/O."""
        return spool_view(self._spool, self._filling, self._stream, self._problem)

    @property
    def _fills(self) -> bool:
        """Return whether the source is read into the spool."""
        return self._filling is not None and self._filling.reading

    @contextmanager
    def leading(self) -> Iterator[None]:
        """Context manager while this relay leads: use the folder. If the folder cannot be used, the
        instance continues without a spool and reports that.
        """
        if self._folder is None:
            yield
            return
        owned = self._owned = OwnedFolder(self._folder, self._leads)
        try:
            self._open()
            yield
        finally:
            with self._lock:  # a thread that a stop left behind must not begin anything after this
                self._stream = None
                self._end_filling()
                self._close()
                self._spool = self._owned = None
            owned.free()

    def overdue(self, waited_s: float) -> bool:
        """Return whether the source should be read into the spool, because items waited `waited_s`
        seconds in memory.
        """
        stream = self._stream
        if self._spool is None or waited_s < self._after_s or monotonic() < self._not_before_s:
            return False
        return stream is None or not stream.from_disk

    def poll(self, unanswered_s: float) -> None:
        """Raise GoesToSpool if `unanswered_s`, the seconds that a commit has been unanswered, are
        too many. Every ten seconds, record the committed position on disk: a relay that starts
        while Kafka does not answer fills the spool from that position.
        """
        if self.overdue(unanswered_s):
            raise GoesToSpool(
                "Kafka does not answer; the relay now reads the source to its disk (spool)."
            )
        if self._spool is None and monotonic() >= self._not_before_s:
            self._open()
        if monotonic() >= self._note_at_s:
            self._note()

    def begin(self) -> None:
        """Start a thread that reads the source into the spool.

        It begins at the spool's end, or at the committed position if the spool is empty. As long as
        this thread reads the source, no other thread may read it. Does nothing if there is no
        usable spool, if such a thread already reads, or shortly after the disk refused a write.
        """
        with self._lock:
            if self._spool is None or self._fills or monotonic() < self._not_before_s:
                return
            self._end_filling()
            record = self._stats.record
            if record is not None and not self._spool.holds(record.source):
                self._throw_away(self._spool)
            start = self._spool.end or (record.source if record is not None else None)
            if start is not None:
                self._fill(self._spool, start)

    @contextmanager
    def spool_if_slow(self) -> Iterator[None]:
        """Context manager for blocking Kafka calls: start the spool if the block takes too long."""
        ended = threading.Event()
        if self._spool is not None:
            RelayThread("spool-begin", self._instance.name, self._begin_late, ended).start()
        try:
            yield
        finally:
            ended.set()

    def _begin_late(self, ended: threading.Event) -> None:
        if not ended.wait(self._after_s):
            self.begin()

    def stream(self, source: SourceSettings, start: SourcePosition) -> SpooledStream | None:
        """Return a stream that reads the items after `start` from the spool, then from the source.
        None if the spool does not have them; it is then emptied. Raises Unreachable if no item
        waits on disk and the source does not answer.
        """
        with self._lock:
            former, self._source, self._stream = self._stream, source, None
            if self._spool is None:
                return None
            try:
                if former is not None and former.damaged:
                    self._loss = _LOSS.format("it could not be read to its end")
                else:
                    self._stream = self._spooled(self._spool, start)
            except SpoolUnusable as exc:
                self._say(exc)
            if self._stream is None:
                self._throw_away(self._spool)
            return self._stream

    def explained(self, error: BinlogPurged) -> BinlogPurged:
        """Return the error, with a note if a damaged spool may have held the purged binlog."""
        return (
            BinlogPurged(f"{error.reason} {self._loss}", remedy=error.way_out)
            if self._loss
            else error
        )

    def rest(self) -> None:
        """Stop reading into the spool. The files stay on disk."""
        with self._lock:
            self._stream = None
            self._end_filling()

    def _note(self) -> None:
        self._note_at_s = monotonic() + _NOTE_SECONDS
        with self._lock:
            spool, published = self._spool, self._published()
            if (
                spool is None
                or published is None
                or spool.start == published
                or (self._filling is not None and not self._filling.ended)
            ):
                return
            try:
                spool.begin(published)
            except SpoolUnusable as exc:
                self._say(exc)

    def _close(self) -> None:
        """Close the spool's files; they are kept on disk."""
        try:
            if self._spool is not None:
                self._spool.close()
        except SpoolUnusable as exc:
            self._say(exc)

    def _open(self) -> None:
        """Open the folder, if this relay leads and has not opened it."""
        with self._lock:
            if self._owned is None or self._spool is not None:
                return
            try:
                spool = Spool(self._owned.take(), self._instance.spooling.limit_bytes)
            except SpoolUnusable as exc:
                self._say(exc)
                return
            self._spool, self._problem = spool, ""
        cut = f"its last {spool.cut_bytes} bytes were damaged"
        self._loss = _LOSS.format(cut) if spool.cut_bytes else ""
        if spool.end is not None:
            size, to = spool.size_bytes, str(spool.end.binlog)
            _log.info("spool_found", instance=self._instance.name, size_bytes=size, to=to)

    def _spooled(self, spool: Spool, start: SourcePosition) -> SpooledStream | None:
        filling = self._filling if self._fills else None
        if filling is None:
            self._end_filling()
            if spool.is_published(start):
                return None
        elif spool.is_published(start) and isinstance(filling.error, Unreachable):
            raise filling.error
        cursor = spool.cursor(start)
        if cursor is None:
            return None
        if filling is None:
            filling = self._fill(spool, spool.end or start)
        _log.info(
            "spool_publishing_started",
            instance=self._instance.name,
            size_bytes=spool.size_bytes,
            start=str(start.binlog),
        )
        return SpooledStream(start, cursor, filling)

    def _throw_away(self, spool: Spool) -> None:
        self._end_filling()
        try:
            spool.clear()
        except SpoolUnusable as exc:
            self._say(exc)

    def _fill(self, spool: Spool, start: SourcePosition) -> SpoolWriter:
        _log.info(
            "spool_filling_started",
            instance=self._instance.name,
            start=str(start.binlog),
            size_bytes=spool.size_bytes,
        )
        self._problem = ""
        filling = SpoolWriter(self._instance.name, spool, start, self._open_source, self._published)
        self._filling = filling
        filling.start()
        return filling

    def _end_filling(self) -> None:
        if self._filling is not None:
            self._filling.stop()
            if isinstance(error := self._filling.error, SpoolUnusable):
                self._say(error)
            self._filling = None

    def _open_source(self, start: SourcePosition, excluded: list[ExcludedRange]) -> SourceStream:
        left_out = {*excluded, *self._rolled_back.ranges}
        return open_for(self._installation, self._instance, self._source, start, left_out)

    def _published(self) -> SourcePosition | None:
        record = self._stats.record
        return record.source if record is not None else None

    def _say(self, error: SpoolUnusable) -> None:
        self._problem = str(error)
        self._not_before_s = monotonic() + _REST_SECONDS
        _log.warning("spool_unusable", instance=self._instance.name, error=str(error))

"""Carries out one copy request: lists its tables, describes each, and reads their chunks."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from time import monotonic

from relay.errors import RelayError, SnapshotRefused, Unreachable
from relay.model.positions.position import BinlogPosition
from relay.model.records.own_snapshots import why_own
from relay.model.records.position_record import PositionRecord
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.pipeline.copying.chunk_select import (
    FIRST_ROWS,
    MOST_ROWS,
    after_void,
    check_moves,
    check_timeouts,
    first_limit,
    low_mark,
    next_limit,
    read_chunk,
)
from relay.pipeline.copying.copy_reader import CopyReader
from relay.pipeline.copying.copy_waits import RETRY_SECONDS, CopyWait
from relay.pipeline.copying.key_types import TableChanged, described, reads_on
from relay.pipeline.copying.known_tables import (
    KnownTable,
    check_number,
    left_of,
    meant,
    refusals_of,
    tables_of_source,
)
from relay.pipeline.copying.ready_chunk import ReadyChunk
from relay.pipeline.copying.window import Window
from relay.pipeline.delivery.copy_view import CopyView, Rate
from relay.route import Router, TableFilter
from relay.schema import CopiedTable
from relay.settings import InstanceSettings, SourceSettings
from relay.source import LOAD_SECONDS, ChunkConnection, ReadChunk
from relay.state import SnapshotRequest


class CopyRun:
    """Carries out one copy request. The publishing thread calls the methods; no method waits. The
    methods that advance the copy are called between two source transactions. They raise
    SnapshotRefused if the request must end.

    window    changes since the relay began to read the present chunk; None: no chunk is read
    current   the table that is copied; None before the tables are listed and after the last table
    view, progress  the progress for the status, and for the next position record
    refusals  table that a request of the relay itself leaves out → why it cannot be copied
    """

    def __init__(
        self,
        request: SnapshotRequest,
        progress: SnapshotProgress,
        source: SourceSettings,
        reader: CopyReader,
        instance: InstanceSettings,
    ) -> None:
        self.request = request
        self.progress = progress
        self.window: Window | None = None
        self.view = CopyView(request.id, progress.table, progress.rows)
        self.refusals: dict[str, str] = {}
        self._is_own = why_own(request.id) is not None
        self._source = source
        self._reader = reader
        self._read_chunk = partial(
            read_chunk,
            limits=instance.copying,
            shard_in_keys=instance.routing.key_scope == "shard",
        )
        self.current: KnownTable | None = None
        self._tables: list[KnownTable] | None = None
        self._table: CopiedTable | None = None
        self._chunk: ReadChunk | None = None
        self._limit = FIRST_ROWS
        self._asked: Callable[[object], None] | None = None
        self._not_before_s = 0.0
        self._refused = 0
        self._timeouts = self._moves = 0
        self._rate = Rate(monotonic())
        self._tables_stale = False
        # The record has the rows read before for the present table alone, not for later ones.
        self._copied = 0 if progress.finished else progress.rows

    def tables_changed(self, why: str, renamed: Collection[str] = ()) -> None:
        """Read the chunk and the list of tables again for the reason `why`. `renamed` are names
        that a statement may have given to other tables; the progress under these names is dropped.
        """
        self.progress = self.progress.renamed(renamed)
        self._list_again()
        self.void(why)

    def void(self, why: str) -> None:
        """Read the present chunk, if there is one, again for the reason `why`."""
        if self.window is not None:
            self.window.void = self.window.void or why

    def begin_again(self) -> None:
        """Read the table again: the new key of a changed row may be in the part already copied."""
        self.progress = self.progress.begun_again()
        self._moves += 1
        self._choose_table()
        self.void("a row got another key, and no message has all of its columns.")

    def advance(
        self, record: Callable[[], PositionRecord], router: Router, accepted: TableFilter
    ) -> None:
        """Do the next step of the copy, unless it would have to wait. `record` returns the position
        record; `router` and `accepted` decide which tables are published.
        """
        self._take_answer()
        check_moves(self._moves, self.progress.table)
        if self._reader.waiting or self._chunk is not None or monotonic() < self._not_before_s:
            return
        if self._tables_stale and self.window is None:
            self._tables = self._table = self.current = None
            self._tables_stale = False
        if self._tables is None:
            self._ask(tables_of_source, partial(self._listed, router, accepted))
        elif (table := self.current) is None:
            self.progress = replace(self.progress, done=True)
        elif self._table is None or self._table.map.id != table.id:
            self._ask(partial(described, self._source, table), self._is_described)
        elif self.window is None:
            self._open(self._table, record())

    def ready(self, at: BinlogPosition) -> ReadyChunk | None:
        """Return the chunk that may be published at the position `at`; None if there is none."""
        window, chunk, table = self.window, self._chunk, self._table
        if window is None or chunk is None or table is None:
            return None
        if window.void:
            self.read_again(window.void)
            return None
        if at.rank < chunk.high.rank:
            self.view = self.view.waiting("the stream has not reached the end of the chunk")
            return None
        return ReadyChunk(table, chunk, window, self._limit)

    def waits(self, why: str) -> None:
        """Record why no chunk is published now, for the status."""
        self.view = self.view.waiting(why)

    def published(self, ready: ReadyChunk, rows: int, most_rows: int = MOST_ROWS) -> None:
        """Record that `rows` rows of a chunk are in the open batch. The next chunk has at most
        `most_rows` rows.
        """
        before, now_s = self.progress, monotonic()
        self.progress = ready.progress_after(before, rows)
        again = before.after and before.table == str(ready.table.map.id)
        self._copied = len(ready.chunk.rows) + (self._copied if again else 0)
        self._choose_table()
        if self.current is None:
            self.progress = replace(self.progress, done=True)
        self._rate.add(len(ready.chunk.rows), now_s)
        self.view = replace(self.view, rows_per_second=self._rate.value, waits="")
        self._close()
        self._limit = next_limit(self._limit, ready.chunk, most_rows)
        self._refused = self._timeouts = 0
        self._moves = 0 if ready.is_last else self._moves
        if self.request.rows_per_second:
            self._not_before_s = now_s + len(ready.chunk.rows) / self.request.rows_per_second

    def skip_table(self) -> None:
        """Skip the present table: the mapping does not publish it."""
        table = self.current
        if table is not None:
            self.progress = self.progress.finishing(str(table.id))
            self._choose_table()
        self._close()

    def leaves_out(self, reason: str) -> bool:
        """If the relay made the request, leave the present table out because of `reason`, and
        return True. Otherwise, or if no table is being read, return False.
        """
        table = self.current if self._is_own else None
        if table is not None:
            self.refusals[str(table.id)] = reason
            self._refused = self._timeouts = self._moves = 0
            self._choose_table()
            self._close()
        return table is not None

    def _list_again(self) -> None:
        self._tables_stale = True
        self.refusals.clear()  # what kept a table from being copied may be gone
        self._choose_table()

    def _choose_table(self) -> None:
        """Choose the table to read, after a change of the list, the progress or the refusals."""
        if self._tables is None:
            return
        open_tables = [each for each in self._tables if str(each.id) not in self.refusals]
        left = left_of(open_tables, self.progress)
        self.current = left[0] if left else None
        name, rows = str(left[0].id) if left else "", sum(each.rows for each in left)
        copied = self._copied if self.progress.after and self.progress.table == name else 0
        self.view = self.view.reading(name, len(left), rows, self.progress, copied)

    def _ask(
        self, question: Callable[[ChunkConnection], object], then: Callable[[object], None]
    ) -> None:
        self._asked = then
        self._reader.ask(question)

    def _take_answer(self) -> None:
        answer, then = self._reader.answer(), self._asked
        if answer is None or then is None:
            return
        self._asked = None
        (found,) = answer
        if not isinstance(found, RelayError):
            then(found)
        elif isinstance(found, SnapshotRefused) and self._refused:
            self._refuse(found)
        else:
            self._refused += isinstance(found, SnapshotRefused)
            self._failed(found)

    def _refuse(self, refused: SnapshotRefused) -> None:
        if not self.leaves_out(str(refused)):
            raise refused

    def _failed(self, error: RelayError) -> None:
        """Try again later, from the list of tables on: the server or the table may be another.

        A chunk that the source did not answer is read with fewer rows. Raises SnapshotRefused if
        that did not help.
        """
        if isinstance(error, Unreachable) and self.window is not None:
            self._timeouts += 1
            try:
                check_timeouts(self._timeouts, error, self.window.table)
            except SnapshotRefused as refused:
                self._refuse(refused)
        self.window, self._tables_stale = None, True
        self.view = self.view.waiting(str(error))
        self._not_before_s = monotonic() + RETRY_SECONDS

    def _listed(self, router: Router, accepted: TableFilter, answer: object) -> None:
        listed = answer if isinstance(answer, list) else []
        tables = [each for each in listed if isinstance(each, KnownTable)]
        found = meant(tables, self.request.tables, router, accepted)
        check_number(found, self.progress)
        refused = refusals_of(found)
        if refused and not self._is_own:
            raise next(iter(refused.values()))
        self.refusals |= {name: str(each) for name, each in refused.items()}
        self._tables = found
        self._choose_table()

    def _is_described(self, found: object) -> None:
        if not isinstance(found, CopiedTable):
            self._tables_stale = True  # it is gone
            return
        self._table, name = found, str(found.map.id)
        if self.progress.table == name and not reads_on(self.progress, found):
            self.progress = replace(self.progress, after=())
            self._choose_table()
        self._limit = first_limit(self._timeouts)

    def _open(self, table: CopiedTable, record: PositionRecord) -> None:
        """Open the window, then start to read the chunk."""
        after = self.progress.after if self.progress.table == str(table.map.id) else ()
        low = low_mark(record)
        question = self._read_chunk(table, self.request, after, self._limit, low)
        self.view = self.view.waiting("")
        self.window = Window(table.map.id, table.ordinals, table.map.columns)
        self._ask(question, self._is_read)

    def _is_read(self, found: object) -> None:
        if isinstance(found, ReadChunk):
            self._chunk = found
            return
        if isinstance(found, TableChanged):
            self._tables_stale = True
            self.read_again(found.reason)
            return
        self.window = None
        if isinstance(found, CopyWait):
            self.view = self.view.waiting(found.reason)
            self._not_before_s = monotonic() + LOAD_SECONDS
        else:
            self.view = self.view.waiting("SELECTs do not show the last transaction yet")

    def read_again(self, why: str, *, after_s: float = 0.0) -> None:
        """Read the present chunk again after `after_s` seconds. `why` is shown in the status."""
        self.view = replace(self.view, voided=self.view.voided + 1).waiting(why)
        self._not_before_s = monotonic() + after_s
        self._limit = after_void(self._limit)
        self._close()

    def _close(self) -> None:
        self.window = self._chunk = None

"""Opens readers of topics for callers. Their number is limited, and each has its own Kafka
consumer.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from anyio import CapacityLimiter

from api.access import Caller
from api.services.mappings.mapping_archive import MappingArchive
from api.services.peek.asked import AskedPeek
from api.services.peek.notes import PeekNotes
from api.services.peek.slots import MOST_PEEKS, PeekSlots
from relay.kafka import Offsets
from relay.model.accounts import Right
from relay.model.table import tables_named
from relay.operations import (
    DefinedInstances,
    Peek,
    PeekBatch,
    PeekedRow,
    PeekPage,
    PeekTables,
)
from relay.settings import KafkaSettings
from relay.state import InstanceStore


class Reading:
    """One open reader of a topic, with the rights of its caller. The caller must call `close`.

    The returned rows have no values if the caller may not see values.
    """

    def __init__(self, peek: Peek, caller: Caller, release: Callable[[], None]) -> None:
        self._peek = peek
        self._release = release
        self.with_values = caller.sees_values

    def page(self) -> PeekPage:
        """Return existing rows: the first ones after the requested time, or the newest ones.

        Raises the errors of `Peek.page`.
        """
        page = self._peek.page()
        return replace(page, rows=self._seen(page.rows))

    def start(self, after: Offsets | None = None) -> PeekBatch:
        """Begin to read, and return the first rows. Raises the errors of `Peek.start`.

        `after` has the offset of each partition at which to continue; None: begin at the requested
        start.
        """
        batch = self._peek.start(after)
        return replace(batch, rows=self._seen(batch.rows))

    def poll(self) -> PeekBatch:
        """Read for a short time and return the rows. Raises the errors of `Peek.poll`."""
        batch = self._peek.poll()
        return replace(batch, rows=self._seen(batch.rows))

    def row_at(self, partition: int, offset: int, row: int) -> PeekedRow | None:
        """Return one row by partition, offset and its number within the message; None if there is
        none.

        Raises the errors of `Peek.row_at`.
        """
        found = self._peek.row_at(partition, offset, row)
        return None if found is None else self._seen((found,))[0]

    @property
    def rests(self) -> bool:
        """Return whether `poll` returns at once, because rows are already read and kept for the
        next second.
        """
        return self._peek.rests

    def close(self) -> None:
        """Close the Kafka consumer, and allow another reader to be opened."""
        try:
            self._peek.close()
        finally:
            self._release()

    def _seen(self, rows: tuple[PeekedRow, ...]) -> tuple[PeekedRow, ...]:
        return rows if self.with_values else tuple(each.without_values() for each in rows)


class PeekDesk:
    """Lists the readable tables, and opens readers."""

    def __init__(
        self,
        archive: MappingArchive,
        notes: InstanceStore,
        defined: Callable[[], DefinedInstances],
        kafka: KafkaSettings,
        audit: PeekNotes,
    ) -> None:
        self._archive = archive
        self._notes = notes
        self._defined = defined
        self._kafka = kafka
        self._audit = audit
        self._slots = PeekSlots()
        self.threads = CapacityLimiter(MOST_PEEKS)
        """For the calls of streams, so that an unavailable broker blocks no other request."""

    def tables(self) -> PeekTables:
        """Return the readable logical tables of the active set. Raises ActiveSetBroken."""
        return PeekTables(
            self._archive.compiled(),
            self._defined().settings,
            lambda instance: tables_named(self._notes.tables_of(instance)),
        )

    def open(self, caller: Caller, tables: PeekTables, asked: AskedPeek) -> Reading:
        """Open a reader of a table's topic, and record that in the audit trail.

        caller  the sender of the request, whose rights the reader has
        tables  the readable tables
        asked   the parameters of the request

        Raises BadRequest, RightMissing for a key filter without the right to see values, PeeksBusy,
        NothingToPeek, ConfigurationError.
        """
        table = tables.table(asked.table)
        question = asked.question(table.name)
        if question.key:
            caller.check({Right.VALUES})
        reader = tables.reader(table)
        release = self._slots.take(caller.name)
        try:
            peek = Peek(self._kafka, reader, question)
        except BaseException:
            release()
            raise
        self._audit.note(caller, question)
        return Reading(peek, caller, release)

    @contextmanager
    def opened(self, caller: Caller, tables: PeekTables, asked: AskedPeek) -> Iterator[Reading]:
        """Context manager: open a reader, and close it at the end of the block.

        The parameters and the errors are those of `open`.
        """
        reading = self.open(caller, tables, asked)
        try:
            yield reading
        finally:
            reading.close()

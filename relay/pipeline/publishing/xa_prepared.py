"""Stores the rows of XA transactions between PREPARE and COMMIT: in a topic of the instance, and in
memory while they are small.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from relay.decode import RowDecoder
from relay.errors import PreparedUnknown
from relay.model.change import PreparedRows, RowsEvent, XaAction, XaStep
from relay.model.message import OutboundMessage
from relay.model.table import TableId, TableMap
from relay.position import EventPart, KeptRecords, PreparedIndex, RecordKeys
from relay.position.prepared_index import NOTE
from relay.position.prepared_record import note_value, record_key, to_bytes

_IN_MEMORY_BYTES: Final = 8_000_000
"""More than this is read back from the topic when it is committed."""
_EVENT_BYTES: Final = 1024
"""Bytes of memory for an event, besides the bytes of its record."""


@dataclass(slots=True)
class _Held:
    """One transaction of this run: its events as far as they are in memory, and which records
    it has; `noted`: it is prepared; `skipped`: an operator left its XA PREPARE out.
    """

    events: list[PreparedRows] = field(default_factory=list)
    keys: RecordKeys = field(default_factory=RecordKeys)
    noted: bool = False
    skipped: bool = False
    size_bytes: int = 0
    whole: bool = True


class PreparedTransactions:
    """Stores and returns the rows of prepared XA transactions; used only by the XA publisher.

    The caller puts the returned messages into the batch that holds the position after them. For
    rows that are no longer in memory, only their offsets in the topic are known. `part_bytes` is
    the largest record.
    """

    def __init__(self, records: KeptRecords, part_bytes: int) -> None:
        self._records = records
        self._index = PreparedIndex(records)
        self._part_bytes = part_bytes
        self._held: dict[str, _Held] = {}
        self._size_bytes = 0
        self._made = False

    def begin(self, xid: str) -> None:
        """Begin to store the transaction `xid`, and drop what an earlier attempt left in memory."""
        self._drop(xid)
        self._held[xid] = _Held()

    def keep(self, xid: str, number: int, rows: PreparedRows) -> Iterator[OutboundMessage]:
        """Store a row event of the transaction `xid`; yield the messages of its records.

        `number` is the event's number in the transaction.
        """
        held = self._held[xid]
        value = to_bytes(rows)
        for part, start in enumerate(range(0, len(value), self._part_bytes)):
            held.keys.add(EventPart(number, part))
            yield self._message(
                record_key(xid, number, part), value[start : start + self._part_bytes]
            )
        if held.whole:
            held.events.append(rows)
            held.size_bytes += len(value) + _EVENT_BYTES
            self._size_bytes += len(value) + _EVENT_BYTES
        if self._size_bytes > _IN_MEMORY_BYTES:
            self._leave_memory(held)

    def passed(self, xid: str) -> None:
        """Record that an earlier attempt already stored an event of the transaction in the topic,
        so that its rows are not kept in memory.
        """
        self._leave_memory(self._held[xid])

    def prepared(self, xid: str, *, skipped: bool = False) -> OutboundMessage:
        """Return a message for the topic of stored rows, which records that the transaction `xid`
        is prepared.

        `skipped`: an operator skips it, so its COMMIT publishes nothing.
        """
        held = self._held[xid]
        held.noted, held.skipped = True, skipped
        return self._message(record_key(xid, NOTE), note_value(skipped=skipped))

    def in_memory(self, xid: str) -> bool:
        """Return whether all rows of the transaction `xid` are in memory."""
        held = self._held.get(xid)
        return held is not None and held.whole

    def find_committed(self) -> None:
        """Read the records that were committed to the topic since the last call.

        Call it before `rows` and `forgotten` for a transaction that is not in memory, and only
        while no Kafka transaction with records of the topic is open. Raises PositionUnreadable.
        """
        self._ensure_topic()
        self._index.read_on()

    def rows(self, step: XaStep) -> Generator[RowsEvent, None, None]:
        """Return the row events of a transaction, in their order.

        Events that are not in memory are read from the topic one by one. Raises PreparedUnknown if
        the transaction was prepared before the position at which reading began.
        """
        held = self._held.get(step.xid)
        if held is not None and held.whole:
            return _decoded(held.events)
        # COMMIT ONE PHASE is in the group of the rows, which has no PREPARE.
        if not self._index.holds(step.xid, prepared=step.action is XaAction.COMMIT):
            raise PreparedUnknown(
                f"The XA transaction {step.xid} is committed at {step.position}, and was "
                "prepared before the position where reading began."
            )
        return _decoded(self._index.events(step.xid))

    def is_skipped(self, step: XaStep) -> bool:
        """Return whether an operator skipped the XA PREPARE of the transaction. Call
        `rows` first.
        """
        if step.action is not XaAction.COMMIT:  # its group has no PREPARE
            return False
        held = self._held.get(step.xid)
        if held is not None and held.whole:
            return held.skipped
        return self._index.is_skipped(step.xid)

    def forgotten(self, xid: str) -> Iterator[OutboundMessage]:
        """Yield the messages that delete the stored records of the finished transaction `xid`."""
        held = self._held.get(xid)
        keys = _keys(xid, held) if held is not None and held.whole else self._index.keys(xid)
        self._drop(xid)
        return (self._message(key, None) for key in keys)

    def _message(self, key: bytes, value: bytes | None) -> OutboundMessage:
        self._ensure_topic()
        return self._records.message(key, value)

    def _ensure_topic(self) -> None:
        if not self._made:
            self._records.ensure_topic()
            self._made = True

    def _leave_memory(self, held: _Held) -> None:
        self._size_bytes -= held.size_bytes
        held.events.clear()
        held.size_bytes, held.whole = 0, False

    def _drop(self, xid: str) -> None:
        held = self._held.pop(xid, None)
        if held is not None:
            self._size_bytes -= held.size_bytes


def opened(rows: PreparedRows) -> RowsEvent:
    """Return the row event in `rows`, decoded with the column names that its table had at the
    PREPARE.
    """
    return next(_decoded((rows,)))


def _decoded(events: Iterable[PreparedRows]) -> Generator[RowsEvent, None, None]:
    tables: dict[TableId, TableMap] = {}
    decoder = RowDecoder(complete=lambda bare: tables.get(bare.id, bare))
    for each in events:
        tables[each.table.id] = each.table
        yield decoder.open(each.raw)


def _keys(xid: str, held: _Held) -> Iterator[bytes]:
    yield from (record_key(xid, *key) for key in held.keys)
    if held.noted:
        yield record_key(xid, NOTE)

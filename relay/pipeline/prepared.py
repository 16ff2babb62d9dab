"""XA transactions between PREPARE and COMMIT: their rows lie in a topic of the instance, and in memory as long as they are few."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from relay.decode import RowDecoder
from relay.errors import PreparedUnknown
from relay.model.change import PreparedRows, RowsEvent, XaStep
from relay.model.message import OutboundMessage
from relay.position import KeptRecords
from relay.position.prepared_record import from_bytes, read_key, record_key, to_bytes

_IN_MEMORY_BYTES: Final = 32_000_000
"""More than this is read back from the topic when it is committed."""
_NOTE: Final = 0


@dataclass(slots=True)
class _Held:
    """One transaction of this session: its events by number as far as they are in memory, and the keys of its records."""

    events: dict[int, PreparedRows] = field(default_factory=dict)
    keys: list[bytes] = field(default_factory=list)
    size_bytes: int = 0
    whole: bool = True


class PreparedTransactions:
    """Keeps and gives back the rows of prepared transactions; used by the walk alone.

    Everything that is kept goes through `send`, into the batch that holds the position behind it.
    """

    def __init__(self, records: KeptRecords, part_bytes: int) -> None:
        self._records = records
        self._part_bytes = part_bytes
        self._held: dict[str, _Held] = {}
        self._size_bytes = 0
        self._made = False

    def begin(self, xid: str) -> None:
        """The group of a transaction's rows begins; what an attempt before left in memory is none of it."""
        self._drop(xid)
        self._held[xid] = _Held()

    def keep(self, xid: str, number: int, rows: PreparedRows) -> Iterator[OutboundMessage]:
        """Take the event with this number of a transaction, and yield its records."""
        held = self._held[xid]
        value = to_bytes(rows)
        for part, start in enumerate(range(0, len(value), self._part_bytes)):
            key = record_key(xid, number, part)
            held.keys.append(key)
            yield self._message(key, value[start : start + self._part_bytes])
        if held.whole:
            held.events[number] = rows
            held.size_bytes += len(value)
            self._size_bytes += len(value)
        if self._size_bytes > _IN_MEMORY_BYTES:
            self._leave_memory(held)

    def passed(self, xid: str) -> None:
        """An event of the group lies in the topic already, and is not kept again."""
        self._leave_memory(self._held[xid])

    def prepared(self, xid: str) -> OutboundMessage:
        """The note that the transaction is prepared."""
        key = record_key(xid, _NOTE)
        self._held[xid].keys.append(key)
        return self._message(key, b"{}")

    def in_memory(self, xid: str) -> bool:
        """Whether its rows can be given back without the topic."""
        held = self._held.get(xid)
        return held is not None and held.whole

    def rows(self, step: XaStep) -> Iterator[RowsEvent]:
        """Yield the row events of a transaction in their order; those that are not in memory from what is committed of the topic.

        Raises PreparedUnknown for a transaction that was prepared before the relay read.
        """
        held = self._held.get(step.xid)
        events = list(held.events.values()) if held is not None and held.whole else self._read(step)
        tables = {each.table.id: each.table for each in events}
        decoder = RowDecoder(complete=lambda bare: tables.get(bare.id, bare))
        return (decoder.open(each.raw) for each in events)

    def forgotten(self, xid: str) -> Iterable[OutboundMessage]:
        """The messages that take the records of a finished transaction away."""
        held = self._held.get(xid)
        keys = held.keys if held is not None and held.whole else self._keys(xid)
        self._drop(xid)
        return [self._message(key, None) for key in keys]

    def _read(self, step: XaStep) -> list[PreparedRows]:
        parts: dict[int, list[tuple[int, bytes]]] = {}
        for key, value in self._kept().items():
            xid, number, part = read_key(key)
            if xid == step.xid:
                parts.setdefault(number, []).append((part, value))
        if not parts:
            raise PreparedUnknown(f"{step.xid} is committed at {step.position}, and was prepared before the place where reading began.")
        return [from_bytes(b"".join(value for _, value in sorted(parts[number]))) for number in sorted(parts) if number != _NOTE]

    def _keys(self, xid: str) -> list[bytes]:
        return [key for key in self._kept() if read_key(key)[0] == xid]

    def _kept(self) -> dict[bytes, bytes]:
        self._ensure_topic()
        return self._records.read()

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

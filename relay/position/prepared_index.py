"""Indexes the row events of prepared XA transactions by their offsets in a topic. The rows
themselves stay in Kafka.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from relay.errors import PositionUnreadable
from relay.model.change import PreparedRows
from relay.position.kept_records import KeptRecords
from relay.position.prepared_record import from_bytes, is_skipped, read_key, record_key

NOTE: Final = 0
"""The event number of the record that marks a transaction as prepared.

Row events are numbered from 1.
"""


class EventPart(NamedTuple):
    """Key of one record of a row event.

    number  number of the event in its transaction, from 1; 0 for the record that says that the
            transaction is prepared
    part    number of the part, because a large event needs several records
    """

    number: int
    part: int


@dataclass(slots=True)
class _Run:
    """The events with numbers `first` to `last`, each stored in `parts` records."""

    first: int
    last: int
    parts: int


class RecordKeys:
    """The keys of a transaction's records in rising order.

    They are stored as runs of events that have the same number of parts. So memory use grows only
    with the number of large events.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    def add(self, key: EventPart) -> None:
        """Append the key of a record; keys must rise."""
        last = self._runs[-1] if self._runs else None
        if last is None or key.number != last.last:
            self._begin(key)
        elif last.first == last.last:
            last.parts = key.part + 1
        else:
            last.last -= 1
            self._runs.append(_Run(key.number, key.number, key.part + 1))

    def __iter__(self) -> Iterator[EventPart]:
        for run in self._runs:
            for number in range(run.first, run.last + 1):
                yield from (EventPart(number, part) for part in range(run.parts))

    def _begin(self, key: EventPart) -> None:
        """Append the first part of another event."""
        if len(self._runs) > 1 and _joins(self._runs[-2], self._runs[-1]):
            joined = self._runs.pop()
            self._runs[-1].last = joined.last
        last = self._runs[-1] if self._runs else None
        if last is not None and key.number == last.last + 1 and last.parts == key.part + 1:
            last.last = key.number
        else:
            self._runs.append(_Run(key.number, key.number, key.part + 1))


@dataclass(slots=True)
class _Range:
    """Records of one transaction whose keys rise in the order of the topic.

    Records of other transactions may be between them.
    """

    first: EventPart
    last: EventPart
    first_offset: int
    last_offset: int
    keys: RecordKeys = field(default_factory=RecordKeys)


@dataclass(slots=True)
class _Kept:
    """The records of one transaction in the topic.

    ranges    records with rising keys, in the order of the topic
    noted     the transaction is prepared
    skipped   an operator skipped its XA PREPARE
    has_note  the topic has a note, perhaps of an earlier transaction with the same xid
    """

    ranges: list[_Range] = field(default_factory=list)
    noted: bool = False
    skipped: bool = False
    has_note: bool = False

    def note(self, value: bytes) -> None:
        self.noted, self.skipped, self.has_note = True, is_skipped(value), True

    def add(self, key: EventPart, offset: int) -> None:
        # A note before rows belongs to an earlier transaction or attempt of the same xid.
        self.noted = self.skipped = False
        if not self.ranges or key <= self.ranges[-1].last:
            self.ranges.append(_Range(key, key, offset, offset))
        last = self.ranges[-1]
        last.last, last.last_offset = key, offset
        last.keys.add(key)

    def newest(self) -> Iterator[tuple[_Range, EventPart | None]]:
        """Yield the ranges in the order of their events, each with the key before which its records
        are valid; None: all are valid.

        When the relay reads a transaction again from some event on, it writes the records of all
        later events again, so later ranges replace the end of earlier ones. An earlier transaction
        of the same xid may have left more events.
        """
        found: list[tuple[_Range, EventPart | None]] = []
        below: EventPart | None = None
        for each in reversed(self.ranges):
            if below is None or each.first < below:
                found.append((each, below))
                below = each.first
        return reversed(found)


class PreparedIndex:
    """Index of the records of each prepared transaction, up to the offset that was read.

    Used by one thread.
    """

    def __init__(self, records: KeptRecords) -> None:
        self._records = records
        self._kept: dict[str, _Kept] = {}
        self._read_to = 0

    def read_on(self) -> None:
        """Read the records committed since the last call.

        Call it only while no open Kafka transaction of this relay contains records of the topic,
        because such a transaction hides later records. Raises PositionUnreadable.
        """
        low, high = self._records.ends()
        with closing(self._records.between(max(low, self._read_to), high)) as found:
            for offset, key, value in found:
                if key is not None:
                    self._take(offset, key, value)
        self._read_to = high

    def holds(self, xid: str, *, prepared: bool) -> bool:
        """Return whether the topic has records of a transaction. With `prepared`: whether one of
        them is the record which says that the transaction is prepared.

        If only that record is missing, the relay never read the XA PREPARE of the transaction, for
        example because an operator moved the position past it.
        """
        kept = self._kept.get(xid)
        return kept is not None and (kept.noted or not prepared)

    def is_skipped(self, xid: str) -> bool:
        """Return whether an operator skipped the XA PREPARE of the transaction `xid`."""
        kept = self._kept.get(xid)
        return kept is not None and kept.skipped

    def events(self, xid: str) -> Iterator[PreparedRows]:
        """Yield the row events of the transaction `xid` in order. They are read from the topic one
        by one.
        """
        for each, below in self._kept[xid].newest():
            yield from self._events_of(xid, each, below)

    def keys(self, xid: str) -> Iterator[bytes]:
        """Yield the keys of all records of a transaction; last that of the record which says that
        it is prepared. Yield nothing if the topic has no records of it.
        """
        kept = self._kept.get(xid, _Kept())
        for each in kept.ranges:
            yield from (record_key(xid, *key) for key in each.keys)
        if kept.has_note:
            yield record_key(xid, NOTE)

    def _take(self, offset: int, key: bytes, value: bytes | None) -> None:
        xid, number, part = read_key(key)
        if value is None:
            # All records of a transaction are deleted together, when it is finished.
            self._kept.pop(xid, None)
            return
        kept = self._kept.setdefault(xid, _Kept())
        if number == NOTE:
            kept.note(value)
        else:
            kept.add(EventPart(number, part), offset)

    def _events_of(self, xid: str, kept: _Range, below: EventPart | None) -> Iterator[PreparedRows]:
        number, parts = NOTE, list[bytes]()
        expected = iter(kept.keys)
        with closing(self._records.between(kept.first_offset, kept.last_offset + 1)) as found:
            for key, value in _of_transaction(xid, found):
                if below is not None and key >= below:
                    break
                if key != next(expected, None):
                    raise PositionUnreadable(
                        f"The record of {xid} that is expected at {key} in its topic is missing."
                    )
                if key.number != number and parts:
                    yield from_bytes(b"".join(parts))
                    parts.clear()
                number = key.number
                parts.append(value)
        missing = next(expected, None)
        if missing is not None and (below is None or missing < below):
            raise PositionUnreadable(f"The record {missing} of {xid} is missing in its topic.")
        if parts:
            yield from_bytes(b"".join(parts))


def _of_transaction(
    xid: str, records: Iterator[tuple[int, bytes | None, bytes | None]]
) -> Iterator[tuple[EventPart, bytes]]:
    for _, key, value in records:
        if key is None or value is None:
            continue
        of, number, part = read_key(key)
        if of == xid and number != NOTE:
            yield EventPart(number, part), value


def _joins(one: _Run, other: _Run) -> bool:
    return one.parts == other.parts and one.last + 1 == other.first

"""Headers, checksums and places of events."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import BinlogPurged, CorruptEvent, RelayError, SourceUnreachable
from relay.pipeline.compiled_events import event_scanner
from relay.source import event_types as types
from relay.source.binlog_event import BinlogEvent, Scanner
from relay.source.binlog_reader import BinlogReader
from relay.source.packets import PacketReader
from tests.unit.source.binlog_bytes import description, event, mariadb_gtid_body, packet, rotate, sent


@contextmanager
def reading(stream: bytes, scanner: Scanner | None = None) -> Iterator[BinlogReader]:
    near, far = socket.socketpair()
    with near:
        near.settimeout(10)
        with far:
            far.sendall(stream)
        yield BinlogReader(PacketReader(near), "db:3306", scanner)


Outcome: TypeAlias = tuple[list[tuple[BinlogEvent, str, int]], RelayError | None]


def outcome(stream: bytes, count: int, scanner: Scanner | None) -> Outcome:
    """The events, each with the place where the reader then stood, and what ended them."""
    found: list[tuple[BinlogEvent, str, int]] = []
    with reading(stream, scanner) as reader:
        try:
            events = islice(reader.events(), count)
            found.extend((each._replace(body=bytes(each.body)), reader.file, reader.offset) for each in events)
        except RelayError as exc:
            return found, exc
    return found, None


def read(stream: bytes, count: int) -> list[BinlogEvent]:
    """The events as both ways of reading them give them, which is the same."""
    plain, error = outcome(stream, count, None)
    scanned, scanned_error = outcome(stream, count, event_scanner())
    assert scanned == plain
    assert (type(scanned_error), str(scanned_error)) == (type(error), str(error))
    if error is not None:
        raise error
    return [each for each, _, _ in plain]


def test_the_scanner_is_compiled() -> None:
    assert event_scanner() is not None


whole_events = st.builds(
    event,
    st.sampled_from(
        [types.TABLE_MAP, types.XID, types.QUERY, types.WRITE_ROWS, types.ROTATE, types.HEARTBEAT, types.MARIADB_GTID_LIST, 222]
    ),
    st.binary(max_size=60),
    log_pos=st.one_of(st.just(0), st.integers(0, 2**32 - 1), st.integers(200, 3000)),
    flags=st.sampled_from([0, types.ARTIFICIAL_FLAG, 0x8000]),
    checksum=st.sampled_from([True, True, True, False]),
)


@given(
    events=st.lists(whole_events, max_size=12),
    checksum=st.booleans(),
    damage=st.one_of(st.none(), st.tuples(st.integers(0, 500), st.integers(1, 255))),
    cut=st.integers(0, 40),
)
def test_scanned_events_are_those_that_are_read_one_by_one(
    events: list[bytes], checksum: bool, damage: tuple[int, int] | None, cut: int
) -> None:
    rest = bytearray(sent(events))
    if damage is not None and rest:
        rest[damage[0] % len(rest)] ^= damage[1]
    stream = sent([rotate("b.1"), description(log_pos=200, checksum=checksum)]) + bytes(rest[: len(rest) - cut])
    with suppress(RelayError):
        read(stream, 2 + len(events) + 1)


def test_events_without_a_position_follow_their_neighbours() -> None:
    gtid = event(types.MARIADB_GTID, mariadb_gtid_body(1), log_pos=1000)
    annotate, table_map = event(types.MARIADB_ANNOTATE_ROWS, b"x" * 30), event(types.TABLE_MAP, b"y" * 10)
    xid = event(types.XID, bytes(8), log_pos=1000 + len(annotate) + len(table_map) + 31)
    events = read(sent([rotate("b.1", 950), description(), gtid, annotate, table_map, xid]), 6)
    assert [(e.start, e.end) for e in events[2:]] == [
        (1000 - len(gtid), 1000),
        (1000, 1000 + len(annotate)),
        (1000 + len(annotate), 1000 + len(annotate) + len(table_map)),
        (xid_start := 1000 + len(annotate) + len(table_map), xid_start + 31),
    ]
    assert (events[1].start, events[1].end) == (950, 950)
    assert bytes(events[4].body) == b"y" * 10


def test_positions_go_on_beyond_four_gigabytes() -> None:
    first = event(types.TABLE_MAP, b"y" * 100, log_pos=2**32 - 10)
    second = event(types.TABLE_MAP, b"y" * 100, log_pos=100)
    beat = event(types.HEARTBEAT, b"b.1", log_pos=100)
    events = read(sent([rotate("b.1"), description(log_pos=150), first, second, beat]), 5)
    assert [e.end for e in events[2:]] == [2**32 - 10, 2**32 + 100, 2**32 + 100]


@given(at=st.integers(0, 60), flip=st.integers(1, 255))
def test_any_flipped_byte_of_an_event_is_found(at: int, flip: int) -> None:
    whole = bytearray(event(types.TABLE_MAP, b"y" * 38, log_pos=300))
    assert len(whole) == 61
    whole[at] ^= flip
    with pytest.raises(CorruptEvent, match=r"b\.1:200"):
        read(sent([rotate("b.1", 4), description(log_pos=200), bytes(whole)]), 3)


def test_a_flipped_format_description_is_found() -> None:
    whole = bytearray(description(log_pos=200))
    whole[30] ^= 1
    with pytest.raises(CorruptEvent, match="checksum"):
        read(sent([rotate("b.1"), bytes(whole)]), 2)


def test_the_flag_of_a_file_in_use_does_not_count() -> None:
    whole = bytearray(description(log_pos=200))
    whole[17] |= types.IN_USE_FLAG
    assert len(read(sent([rotate("b.1"), bytes(whole)]), 2)) == 2


def test_files_without_checksums_are_read_as_they_are() -> None:
    plain = event(types.TABLE_MAP, b"body", log_pos=300, checksum=False)
    events = read(sent([rotate("b.1"), description(log_pos=200, checksum=False), plain]), 3)
    assert bytes(events[2].body) == b"body"
    assert bytes(events[0].body[8:]) == b"b.1"


def test_artificial_rotations_come_with_and_without_checksum() -> None:
    body = (4).to_bytes(8, "little") + b"b.2"
    bare = event(types.ROTATE, body, flags=types.ARTIFICIAL_FLAG, checksum=False)
    assert bytes(read(sent([bare]), 1)[0].body) == body


@pytest.mark.parametrize("size", [0, 5, 19])
def test_cut_events_are_corrupt(size: int) -> None:
    with pytest.raises(CorruptEvent):
        read(sent([rotate("b.1"), event(types.XID, bytes(8))[:size]]), 2)


def test_errors_of_the_server_keep_their_meaning() -> None:
    text = b"Could not find first log file name in binary log index file"
    refusal = packet(b"\xff\xd4\x04#HY000" + text)
    with pytest.raises(BinlogPurged, match="Could not find first log file name"):
        read(refusal, 1)
    with pytest.raises(SourceUnreachable, match="shutting down"):
        read(packet(b"\xfe\0\0\2\0"), 1)

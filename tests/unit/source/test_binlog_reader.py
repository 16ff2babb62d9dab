"""Headers, checksums and places of events."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeAlias, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.errors import BinlogPurged, CorruptEvent, RelayError, SourceUnreachable
from relay.model import event_types as types
from relay.model.change import RawItem, RawRows, TransactionBegin, TransactionEnd
from relay.model.positions.position import SourceIdentity
from relay.pipeline.ingest.compiled_events import event_scanner
from relay.source.events.binlog_event import BinlogEvent, Scanner
from relay.source.events.open_transaction import OpenTransaction
from relay.source.events.transaction_assembler import TransactionAssembler
from relay.source.protocol.binlog_reader import BinlogReader
from relay.source.protocol.packets import PacketReader
from tests.support.examples import examples
from tests.unit.source.binlog_bytes import (
    description,
    event,
    mariadb_gtid_body,
    mysql_gtid_body,
    packet,
    query_body,
    rotate,
    rows_body,
    sent,
    table_map_body,
)


@contextmanager
def reading(stream: bytes) -> Iterator[BinlogReader]:
    near, far = socket.socketpair()
    with near:
        near.settimeout(10)
        with far:
            far.sendall(stream)
        yield BinlogReader(PacketReader(near, "db:3306"), "db:3306")


def read(stream: bytes, count: int) -> list[BinlogEvent]:
    with reading(stream) as reader:
        return [each._replace(body=bytes(each.body)) for each in islice(reader.events(), count)]


Outcome: TypeAlias = tuple[list[RawItem], str, tuple[str, int], OpenTransaction | None]


def outcome(stream: bytes, scanner: Scanner | None, *, mariadb: bool) -> Outcome:
    """The items, what ended them, where the reader then stood, and the transaction that was
    open.
    """
    found: list[RawItem] = []
    group = TransactionAssembler(mariadb=mariadb, identity=SourceIdentity("", 1, 0))
    with reading(stream) as reader:
        try:
            for each in reader.events():
                found.extend(group.feed(each))
                while scanner is not None and (items := reader.scan(scanner, group)):
                    found.extend(items)
        except RelayError as exc:
            return (
                found,
                f"{type(exc).__name__}: {exc}",
                (reader.file, reader.offset),
                group.transaction,
            )
    raise AssertionError("a stream never ends by itself")


def test_the_scanner_is_compiled() -> None:
    assert event_scanner() is not None


@st.composite
def transactions(draw: st.DrawFn, *, mariadb: bool) -> list[bytes]:
    """The events of a transaction as servers log them, now and then with one too many, too few or
    strange.
    """

    def logged(type_code: int, body: bytes) -> bytes:
        return event(
            type_code,
            body,
            log_pos=draw(st.sampled_from([0, 0, 0, 5000])),
            time_s=draw(st.integers(1, 9)),
        )

    if mariadb:
        flags = draw(st.sampled_from([0, 2, 4, 8, 0x1E, 1, 0x20, 0x40]))
        commit_id = bytes(8) if flags & 2 else b""
        begin = [
            logged(
                types.MARIADB_GTID,
                mariadb_gtid_body(
                    draw(st.integers(0, 2**64 - 1)),
                    flags,
                    7,
                    commit_id + draw(st.binary(max_size=2)),
                ),
            )
        ]
    else:
        number, commit_us = draw(st.integers(1, 2**62)), draw(st.integers(0, 2**55 - 1))
        begin = [
            logged(types.GTID, mysql_gtid_body(number, commit_us)),
            logged(types.QUERY, query_body("BEGIN", status=b"\0\1\2\3\4")),
        ]
    body: list[bytes] = []
    for number in draw(st.lists(st.integers(1, 3), max_size=4)):
        notes = draw(
            st.sampled_from(
                [[], [logged(types.ROWS_QUERY, b"x")], [logged(types.MARIADB_ANNOTATE_ROWS, b"x")]]
            )
        )
        kinds = draw(st.lists(st.sampled_from([23, 24, 25, 30, 31, 32]), max_size=3))
        rows = [
            logged(kind, rows_body(draw(st.sampled_from([number, number, number, 9, 0xFFFFFF]))))
            for kind in kinds
        ]
        body += [*notes, logged(types.TABLE_MAP, table_map_body(number)), *rows]
    between = [
        [],
        [],
        [],
        [logged(types.QUERY, query_body("SAVEPOINT a"))],
        [logged(types.QUERY, query_body("BEGIN"))],
    ]
    end = draw(
        st.sampled_from(
            [
                logged(types.XID, bytes(8)),
                logged(types.XID, bytes(8)),
                logged(types.QUERY, query_body("COMMIT")),
                b"",
            ]
        )
    )
    events = [*begin, *body, *draw(st.sampled_from(between)), *([end] if end else [])]
    if draw(st.integers(0, 9)) == 0:
        del events[draw(st.integers(0, len(events) - 1))]
    return events


strange_events = st.builds(
    event,
    st.sampled_from(
        [
            types.TABLE_MAP,
            types.XID,
            types.QUERY,
            types.WRITE_ROWS,
            types.ROTATE,
            types.HEARTBEAT,
            types.MARIADB_GTID_LIST,
            types.GTID,
            222,
        ]
    ),
    st.binary(max_size=60),
    log_pos=st.one_of(st.just(0), st.integers(0, 2**32 - 1), st.integers(200, 3000)),
    flags=st.sampled_from([0, types.ARTIFICIAL_FLAG, 0x8000]),
    checksum=st.sampled_from([True, True, True, False]),
)


@pytest.mark.slow
@pytest.mark.parametrize("mariadb", [True, False], ids=["mariadb", "mysql"])
@settings(max_examples=examples(300), deadline=None)
@given(data=st.data())
def test_scanned_events_amount_to_the_same_as_those_that_are_read_one_by_one(
    data: st.DataObject, mariadb: bool
) -> None:
    groups = data.draw(
        st.lists(transactions(mariadb=mariadb) | st.lists(strange_events, max_size=1), max_size=6)
    )
    rest = bytearray(sent([each for events in groups for each in events]))
    damage = data.draw(st.none() | st.none() | st.tuples(st.integers(0, 500), st.integers(1, 255)))
    if damage is not None and rest:
        rest[damage[0] % len(rest)] ^= damage[1]
    cut = data.draw(st.sampled_from([0, 0, 0, 7, 40]))
    head = sent([rotate("b.1"), description(log_pos=200, checksum=data.draw(st.booleans()))])
    stream = head + bytes(rest[: max(0, len(rest) - cut)])
    assert outcome(stream, event_scanner(), mariadb=mariadb) == outcome(
        stream, None, mariadb=mariadb
    )


def test_plain_transactions_are_scanned_to_their_end() -> None:
    """It would be slow and go unnoticed if they were left to the readable way."""
    one = [
        event(types.MARIADB_GTID, mariadb_gtid_body(5, 0x0C)),
        event(types.TABLE_MAP, table_map_body(1)),
        event(types.WRITE_ROWS_V1, rows_body(1)),
        event(types.XID, bytes(8)),
    ]
    group = TransactionAssembler(mariadb=True, identity=SourceIdentity("", 1, 0))
    with reading(sent([rotate("b.1"), description(log_pos=200), *one * 3])) as reader:
        for each in islice(reader.events(), 3):
            assert not [*group.feed(each)] or each.type_code == types.MARIADB_GTID
        kinds = [type(item) for item in reader.scan(cast("Scanner", event_scanner()), group)]
    assert kinds == [RawRows, TransactionEnd, *[TransactionBegin, RawRows, TransactionEnd] * 2]


def test_events_without_a_position_follow_their_neighbours() -> None:
    gtid = event(types.MARIADB_GTID, mariadb_gtid_body(1), log_pos=1000)
    annotate, table_map = (
        event(types.MARIADB_ANNOTATE_ROWS, b"x" * 30),
        event(types.TABLE_MAP, b"y" * 10),
    )
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


@pytest.mark.parametrize("offset", [(1 << 63) - (1 << 33), 1 << 63, (1 << 64) - 1])
def test_an_offset_that_no_file_has_is_named(offset: int) -> None:
    with pytest.raises(CorruptEvent, match=f"continues at byte {offset}"):
        read(sent([rotate("b.2", offset), description(log_pos=200)]), 2)

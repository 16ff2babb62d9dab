"""A file's first event: what it announces is what is read, or a stop by name.

Old formats are called what they are.
"""

import pytest

from relay.errors import CorruptEvent, UnsupportedEvent
from relay.model import event_types as types
from relay.model.positions.position import SourceIdentity
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.transaction_assembler import TransactionAssembler
from tests.unit.source.binlog_bytes import POST_HEADERS, description, event, rotate, sent
from tests.unit.source.test_binlog_reader import read

MYSQL_5_5 = POST_HEADERS[:27]
MYSQL_5_6 = POST_HEADERS[:32] + b"\x19\x19\0"
MYSQL_9 = bytes(
    [
        0,
        13,
        0,
        8,
        *[0] * 4,
        4,
        0,
        4,
        0,
        0,
        0,
        99,
        0,
        4,
        26,
        8,
        *[0] * 6,
        2,
        0,
        0,
        0,
        10,
        10,
        10,
        42,
        42,
        0,
        18,
        52,
        0,
        10,
        40,
        0,
        0,
    ]
)
MARIADB_11 = bytes(
    [*POST_HEADERS[:32], *[0] * 6, 10, 10, 10, *[0] * 119, 4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10]
)


def with_length(code: int, length: int, lengths: bytes = POST_HEADERS) -> bytes:
    return lengths[: code - 1] + bytes([length]) + lengths[code:]


@pytest.mark.parametrize(
    ("version", "lengths"),
    [
        ("5.6.24-log", MYSQL_5_6),
        ("5.7.29-log", POST_HEADERS[:38]),
        ("9.7.4-2", MYSQL_9),
        ("10.1.23-MariaDB\0log", MARIADB_11[:163]),
        ("11.8.6-MariaDB", MARIADB_11),
        ("a fork without numbers", MYSQL_9),
    ],
)
@pytest.mark.parametrize("checksum", [True, False])
def test_what_servers_announce_is_read(version: str, lengths: bytes, checksum: bool) -> None:
    head = description(log_pos=300, version=version, post_headers=lengths, checksum=checksum)
    next_one = event(types.XID, bytes(8), log_pos=400, checksum=checksum)
    assert bytes(read(sent([rotate("b.1"), head, next_one]), 3)[2].body) == bytes(8)


def test_releases_before_checksums_end_with_the_lengths() -> None:
    # The fifth byte from the end is the length of type 23 here; where it is 1 it is no sign of a
    # checksum.
    head = description(log_pos=200, version="5.5.9-log", post_headers=MYSQL_5_5, tail=False)
    events = read(
        sent([rotate("b.1"), head, event(types.XID, bytes(8), log_pos=300, checksum=False)]), 3
    )
    assert bytes(events[1].body[57:]) == MYSQL_5_5
    assert bytes(events[2].body) == bytes(8)


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        (
            with_length(types.QUERY, 15),
            r"post-headers of 15 bytes for events of type 2; this relay reads only 13 bytes",
        ),
        (
            with_length(types.TABLE_MAP, 6),
            r"post-headers of 6 bytes for events of type 19; this relay reads only 8 bytes",
        ),
        (with_length(types.WRITE_ROWS_V1, 10), r"type 23; this relay reads only 8 bytes"),
        (with_length(types.UPDATE_ROWS, 12), r"type 31; this relay reads only 10 bytes"),
        (with_length(types.GTID, 50), r"type 33; this relay reads only 25 or 42 bytes"),
        (with_length(types.XID, 4), r"type 16; this relay reads only 0 bytes"),
        (
            with_length(types.MARIADB_GTID, 21, MARIADB_11),
            r"type 162; this relay reads only 19 bytes",
        ),
    ],
)
def test_other_lengths_are_a_stop_by_name(lengths: bytes, said: str) -> None:
    with pytest.raises(UnsupportedEvent, match=said) as stop:
        read(sent([rotate("b.7"), description(version="8.0.99-fork", post_headers=lengths)]), 2)
    assert "b.7 (8.0.99-fork)" in stop.value.reason
    assert "log_replica_updates" in stop.value.way_out


def test_another_common_header_is_a_stop_by_name() -> None:
    with pytest.raises(
        UnsupportedEvent, match="headers of 27 bytes for all events; this relay reads only 19"
    ):
        read(sent([rotate("b.1"), description(header_bytes=27)]), 2)


def test_a_damaged_description_is_corrupt_before_it_is_foreign() -> None:
    whole = bytearray(description(log_pos=200))
    whole[19 + 56] = 27
    with pytest.raises(CorruptEvent, match="checksum"):
        read(sent([rotate("b.1"), bytes(whole)]), 2)


@pytest.mark.parametrize("size", [0, 40, 58])
def test_a_cut_description_is_corrupt(size: int) -> None:
    with pytest.raises(CorruptEvent, match=r"b\.1:4 describes no binlog"):
        read(sent([rotate("b.1"), event(types.FORMAT_DESCRIPTION, bytes(size), checksum=False)]), 2)


@pytest.mark.parametrize("checksum", [True, False])
def test_a_file_of_mysql_4_is_called_so(checksum: bool) -> None:
    newer = [rotate("b.1"), description(log_pos=200, checksum=checksum), rotate("b.2")]
    with pytest.raises(
        UnsupportedEvent, match=r"b\.2 begins with an event of MySQL 4 or earlier"
    ) as stop:
        read(sent([*newer, event(types.START_V3, bytes(56), log_pos=4, checksum=False)]), 4)
    assert "newer" not in str(stop.value)


@pytest.mark.parametrize(
    ("version", "refused"),
    [("5.1.15-beta", True), ("5.1.23-rc-log", True), ("5.1.24-rc", False), ("5.1.73", False)],
)
def test_rows_before_their_final_form_are_not_called_damaged(version: str, refused: bool) -> None:
    stream = sent(
        [
            rotate("b.1"),
            description(log_pos=200, version=version, post_headers=MYSQL_5_5, tail=False),
        ]
    )
    if not refused:
        assert len(read(stream, 2)) == 2
        return
    with pytest.raises(UnsupportedEvent, match=f"is of MySQL {version}, whose row events"):
        read(stream, 2)


def test_another_version_of_the_binlog_is_not_guessed_at() -> None:
    with pytest.raises(UnsupportedEvent, match="has binlog format 3"):
        read(sent([rotate("b.1"), description(version="4.1.22", binlog_version=3, tail=False)]), 2)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (20, "before its general availability"),
        (22, "of type 22"),
        (6, "LOAD DATA"),
        (12, "LOAD DATA"),
    ],
)
def test_old_events_are_not_called_newer(code: int, said: str) -> None:
    group = TransactionAssembler(mariadb=False, identity=SourceIdentity("", 1, 0))
    with pytest.raises(UnsupportedEvent, match=said):
        list(group.feed(BinlogEvent(code, 0, 0, 7, 100, 200, memoryview(bytes(20)))))


def test_an_event_that_would_begin_before_its_file_is_corrupt() -> None:
    early = event(types.TABLE_MAP, bytes(60), log_pos=30, checksum=False)
    with pytest.raises(CorruptEvent, match=r"has 79 bytes and declares that it ends at byte 30"):
        read(sent([rotate("b.1", 4), description(checksum=False), early]), 3)

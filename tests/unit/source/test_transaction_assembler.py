"""Events → source transactions, for the shapes that both families log."""

import struct
import zlib
from collections.abc import Iterable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import CorruptEvent, RolledBackRows, UnknownEvent, UnsupportedEvent
from relay.model import event_types as types
from relay.model.change import (
    Advance,
    RawItem,
    RawRows,
    Statement,
    TransactionBegin,
    TransactionEnd,
    XaStep,
)
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.events.transaction_assembler import TransactionAssembler
from tests.unit.source.binlog_bytes import (
    UUID_TEXT,
    Feed,
    event,
    mariadb_gtid_body,
    mysql_gtid_body,
    query_body,
    rows_body,
    table_map_body,
)

IDENTITY = SourceIdentity("", 7, 0)


def assembled(
    events: Iterable[BinlogEvent], *, mariadb: bool = True, excluded: Iterable[ExcludedRange] = ()
) -> list[RawItem]:
    assembler = TransactionAssembler(mariadb=mariadb, identity=IDENTITY, excluded=excluded)
    items: list[RawItem] = []
    for each in [*file_start("b.1"), *events]:
        items.extend(assembler.feed(each))
    return items


def file_start(file: str, offset: int = 4) -> list[BinlogEvent]:
    body = memoryview(struct.pack("<Q", offset) + file.encode())
    rotate = BinlogEvent(types.ROTATE, types.ARTIFICIAL_FLAG, 0, 7, offset, offset, body)
    return [rotate, BinlogEvent(types.FORMAT_DESCRIPTION, 0, 500, 7, 4, 4, memoryview(b""))]


def kinds(items: Iterable[RawItem]) -> list[str]:
    return [type(item).__name__ for item in items]


def rows(feed: Feed, number: int = 5) -> list[BinlogEvent]:
    return [
        feed(types.TABLE_MAP, table_map_body(number)),
        feed(types.WRITE_ROWS_V1, rows_body(number)),
    ]


def test_a_mariadb_transaction_from_gtid_to_xid() -> None:
    feed = Feed()
    items = assembled(
        [
            feed(types.MARIADB_GTID, mariadb_gtid_body(12), time_s=900),
            *rows(feed),
            *rows(feed, 6),
            feed(types.XID, bytes(8)),
        ]
    )
    assert items == [
        TransactionBegin(BinlogPosition("b.1", 4), "0-7-12", None, 900),
        RawRows(
            table_map_body(5),
            rows_body(5),
            types.WRITE_ROWS_V1,
            1000,
            BinlogPosition("b.1", 204),
            mariadb=True,
        ),
        RawRows(
            table_map_body(6),
            rows_body(6),
            types.WRITE_ROWS_V1,
            1000,
            BinlogPosition("b.1", 404),
            mariadb=True,
        ),
        TransactionEnd(BinlogPosition("b.1", 604), "0-7-12", SourceIdentity("", 7, 500)),
    ]


def test_a_mysql_transaction_carries_its_commit_time() -> None:
    feed = Feed()
    begin = [
        feed(types.GTID, mysql_gtid_body(3, 1_700_000_000_123_456)),
        feed(types.QUERY, query_body("BEGIN")),
    ]
    items = assembled([*begin, *rows(feed), feed(types.QUERY, query_body("COMMIT"))], mariadb=False)
    assert items[0] == TransactionBegin(
        BinlogPosition("b.1", 4), f"{UUID_TEXT}:3", 1_700_000_000_123, 1000
    )
    assert kinds(items) == ["TransactionBegin", "RawRows", "TransactionEnd"]


def test_transactions_without_gtids_begin_at_their_begin() -> None:
    feed = Feed()
    anonymous = [
        feed(types.ANONYMOUS_GTID, mysql_gtid_body(0)),
        feed(types.QUERY, query_body("BEGIN")),
        feed(types.XID, bytes(8)),
    ]
    bare = [feed(types.QUERY, query_body("BEGIN")), *rows(feed), feed(types.XID, bytes(8))]
    items = assembled(
        [*anonymous, *bare, feed(types.QUERY, query_body("DROP TABLE t"))], mariadb=False
    )
    assert kinds(items) == [
        *("TransactionBegin", "TransactionEnd"),
        *("TransactionBegin", "RawRows", "TransactionEnd"),
        *("TransactionBegin", "Statement", "TransactionEnd"),
    ]
    assert {item.gtid for item in items if isinstance(item, TransactionBegin | TransactionEnd)} == {
        ""
    }


def test_ddl_is_a_transaction_of_its_own() -> None:
    feed = Feed()
    mysql = assembled(
        [
            feed(types.GTID, mysql_gtid_body(1)),
            feed(types.QUERY, query_body("ALTER TABLE t ADD x INT")),
        ],
        mariadb=False,
    )
    feed = Feed()
    mariadb = assembled(
        [
            feed(types.MARIADB_GTID, mariadb_gtid_body(1, 0x29)),
            feed(types.QUERY, query_body("ALTER TABLE t ADD x INT")),
        ]
    )
    for items in (mysql, mariadb):
        assert kinds(items) == ["TransactionBegin", "Statement", "TransactionEnd"]
        assert items[1] == Statement(
            "ALTER TABLE t ADD x INT", "d", 1000, BinlogPosition("b.1", 104)
        )


def test_create_table_select_holds_statement_and_rows() -> None:
    feed = Feed()
    mysql = assembled(
        [
            feed(types.GTID, mysql_gtid_body(1)),
            feed(types.QUERY, query_body("CREATE TABLE `b` (\n `id` int\n) START TRANSACTION")),
            *rows(feed),
            feed(types.XID, bytes(8)),
        ],
        mariadb=False,
    )
    feed = Feed()
    mariadb = assembled(
        [
            feed(types.MARIADB_GTID, mariadb_gtid_body(1, 0x28)),
            feed(types.QUERY, query_body("CREATE TABLE `b` (\n `id` int\n)")),
            *rows(feed),
            feed(types.XID, bytes(8)),
        ]
    )
    for items in (mysql, mariadb):
        assert kinds(items) == ["TransactionBegin", "Statement", "RawRows", "TransactionEnd"]
        assert isinstance(items[1], Statement)
        assert items[1].sql == "CREATE TABLE `b` (\n `id` int\n)"


def test_a_two_phase_alter_counts_once() -> None:
    feed = Feed()
    flags = 0x29
    start = [
        feed(types.MARIADB_GTID, mariadb_gtid_body(1, flags, tail=b"\2")),
        feed(types.QUERY, query_body("ALTER TABLE t ADD x INT")),
    ]
    commit = [
        feed(types.MARIADB_GTID, mariadb_gtid_body(2, flags, tail=b"\4")),
        feed(types.QUERY, query_body("ALTER TABLE t ADD x INT")),
    ]
    assert kinds(assembled([*start, *commit])) == [
        "TransactionBegin",
        "TransactionEnd",
        "TransactionBegin",
        "Statement",
        "TransactionEnd",
    ]


SAVEPOINTED = ("SAVEPOINT `s``1`", "ROLLBACK TO `s``1`")


def savepoint_events() -> list[BinlogEvent]:
    feed = Feed()
    begin = [feed(types.MARIADB_GTID, mariadb_gtid_body(1)), *rows(feed)]
    undone = [
        feed(types.QUERY, query_body(SAVEPOINTED[0])),
        *rows(feed),
        *rows(feed),
        feed(types.QUERY, query_body(SAVEPOINTED[1])),
    ]
    return [*begin, *undone, *rows(feed), feed(types.XID, bytes(8))]


def test_rows_behind_a_savepoint_that_is_rolled_back_are_left_out_on_the_second_reading() -> None:
    with pytest.raises(RolledBackRows) as rolled_back:
        assembled(savepoint_events())
    assert rolled_back.value.ranges == (("b.1", 4, 1, 3),)
    items = assembled(savepoint_events(), excluded=rolled_back.value.ranges)
    assert [item.position.offset for item in items if isinstance(item, RawRows)] == [204, 1004]
    assert kinds(items)[-1] == "TransactionEnd"


def test_the_same_offsets_of_another_file_are_not_excluded() -> None:
    with pytest.raises(RolledBackRows):
        assembled(savepoint_events(), excluded=[("b.2", 4, 1, 3)])


def test_a_rollback_at_the_end_takes_all_rows_back() -> None:
    def events() -> list[BinlogEvent]:
        feed = Feed()
        return [
            feed(types.MARIADB_GTID, mariadb_gtid_body(1)),
            *rows(feed),
            feed(types.QUERY, query_body("ROLLBACK")),
        ]

    with pytest.raises(RolledBackRows) as rolled_back:
        assembled(events())
    assert kinds(assembled(events(), excluded=rolled_back.value.ranges)) == [
        "TransactionBegin",
        "TransactionEnd",
    ]


def test_released_and_renewed_savepoints() -> None:
    feed = Feed()
    events = [feed(types.MARIADB_GTID, mariadb_gtid_body(1))]
    for sql in ("SAVEPOINT a", "SAVEPOINT b"):
        events += [feed(types.QUERY, query_body(sql)), *rows(feed)]
    renewed = feed(types.QUERY, query_body("SAVEPOINT A"))
    events += [renewed, *rows(feed), feed(types.QUERY, query_body("rollback work to savepoint a"))]
    with pytest.raises(RolledBackRows) as rolled_back:
        assembled(events)
    assert rolled_back.value.ranges == (("b.1", 4, 2, 3),)
    gone = [
        feed(types.QUERY, query_body("RELEASE SAVEPOINT b")),
        feed(types.QUERY, query_body("ROLLBACK TO b")),
    ]
    with pytest.raises(CorruptEvent, match="'b'"):
        assembled([*events, *gone], excluded=rolled_back.value.ranges)


def savepoints(*sqls: str) -> list[BinlogEvent]:
    """A row after each statement."""
    feed = Feed()
    events = [feed(types.MARIADB_GTID, mariadb_gtid_body(1)), *rows(feed)]
    for sql in sqls:
        events += [feed(types.QUERY, query_body(sql)), *rows(feed)]
    return events


@pytest.mark.parametrize("back", ["ROLLBACK TO `e`", "RELEASE SAVEPOINT `E`"])
@pytest.mark.parametrize("first", [("SAVEPOINT `e`",), ()])
def test_a_name_that_a_newer_savepoint_may_have_stops(first: tuple[str, ...], back: str) -> None:
    """Servers that ignore accents go to the newer one, the others to the older one."""
    with pytest.raises(UnsupportedEvent, match=r"at b\.1:4 set 'é' later"):
        assembled(savepoints(*first, "SAVEPOINT `é`", back))


@pytest.mark.parametrize(
    ("first", "back"),
    [
        ('SAVEPOINT "a b"', 'ROLLBACK TO "a b"'),
        ('SAVEPOINT "s"', "ROLLBACK TO `s`"),
        ('SAVEPOINT `s"1`', 'ROLLBACK TO "s""1"'),
    ],
)
def test_a_session_may_quote_savepoints_as_ansi_does(first: str, back: str) -> None:
    with pytest.raises(RolledBackRows) as rolled_back:
        assembled(savepoints(first, back))
    assert rolled_back.value.ranges == (("b.1", 4, 1, 2),)


@pytest.mark.parametrize("sql", ["SAVEPOINT [s]", "ROLLBACK TO 's'", "RELEASE SAVEPOINT `s"])
def test_a_savepoint_statement_that_cannot_be_read_stops(sql: str) -> None:
    """Its transaction may hold rows that the source rolled back."""
    with pytest.raises(UnsupportedEvent, match=r"b\.1:604, .* cannot be parsed") as stop:
        assembled(savepoints("SAVEPOINT `s`", sql))
    assert repr(sql) in str(stop.value)
    assert "begins at b.1:4" in str(stop.value)


def test_an_older_savepoint_of_such_a_name_does_not_matter() -> None:
    events = savepoints("SAVEPOINT `é`", "SAVEPOINT `e`", "SAVEPOINT `f`", "ROLLBACK TO `E`")
    with pytest.raises(RolledBackRows) as rolled_back:
        assembled(events)
    assert rolled_back.value.ranges == (("b.1", 4, 2, 4),)


def test_a_transaction_cut_off_by_a_crash_never_happened() -> None:
    feed = Feed()
    begun = [feed(types.MARIADB_GTID, mariadb_gtid_body(1)), *rows(feed)]
    with pytest.raises(RolledBackRows, match="never finished") as rolled_back:
        assembled([*begun, *file_start("b.2")])
    items = assembled([*begun, *file_start("b.2")], excluded=rolled_back.value.ranges)
    assert kinds(items) == ["TransactionBegin", "TransactionEnd", "Advance"]
    assert isinstance(items[1], TransactionEnd)
    assert items[1].gtid == ""


def test_heartbeats_and_rotations_advance_between_transactions_only() -> None:
    feed = Feed()
    begun = [feed(types.MARIADB_GTID, mariadb_gtid_body(1)), *rows(feed)]
    beat = BinlogEvent(types.HEARTBEAT, 0, 0, 7, 304, 304, memoryview(b"b.1"))
    end = feed(types.XID, bytes(8))
    later = BinlogEvent(types.HEARTBEAT, 0, 0, 7, 404, 404, memoryview(b"b.1"))
    items = assembled([*begun, beat, end, later, *file_start("b.2")])
    assert kinds(items)[-3:] == ["TransactionEnd", "Advance", "Advance"]
    assert [item.position for item in items if isinstance(item, Advance)] == [
        BinlogPosition("b.1", 404),
        BinlogPosition("b.2", 4),
    ]


def packed(type_code: int, plain: bytes, head: bytes) -> tuple[int, bytes]:
    return type_code, head + bytes([0x82]) + len(plain).to_bytes(2, "big") + zlib.compress(plain)


def test_mariadb_compressed_events_come_out_plain() -> None:
    feed = Feed()
    statement = query_body("")
    for code, plain_code, bitmaps in ((166, 23, 1), (167, 24, 2), (168, 25, 1)):
        head = (5).to_bytes(6, "little") + b"\1\0" + b"\1" + b"\xff" * bitmaps
        type_code, body = packed(code, b"row" * 100, head)
        events = [
            feed(types.MARIADB_GTID, mariadb_gtid_body(1)),
            feed(types.TABLE_MAP, table_map_body(5)),
            feed(type_code, body),
        ]
        (item,) = (
            item
            for item in assembled([*events, feed(types.XID, bytes(8))])
            if isinstance(item, RawRows)
        )
        assert (item.type_code, item.body) == (plain_code, head + b"row" * 100)
    type_code, body = packed(types.MARIADB_QUERY_COMPRESSED, b"DROP TABLE t", statement)
    items = assembled([feed(types.MARIADB_GTID, mariadb_gtid_body(2, 1)), feed(type_code, body)])
    assert [item.sql for item in items if isinstance(item, Statement)] == ["DROP TABLE t"]


def payload(inner: bytes, *, compression: int = 0) -> bytes:
    body = zstandard.compress(inner) if compression == 0 else inner
    fields = (
        b"\2\3"
        b"\xfc"
        + compression.to_bytes(2, "little")
        + b"\1\3"
        + b"\xfc"
        + len(body).to_bytes(2, "little")
    )
    return fields + b"\0" + body


@given(count=st.integers(1, 300), compression=st.sampled_from([0, 255]))
def test_compressed_transactions_come_out_row_for_row(count: int, compression: int) -> None:
    inner = event(types.QUERY, query_body("BEGIN"), checksum=False)
    for number in range(count):
        inner += event(types.TABLE_MAP, table_map_body(number), checksum=False)
        inner += event(types.WRITE_ROWS, rows_body(number), checksum=False, time_s=number)
    inner += event(types.XID, bytes(8), checksum=False)
    feed = Feed()
    events = [
        feed(types.GTID, mysql_gtid_body(1)),
        feed(types.TRANSACTION_PAYLOAD, payload(inner, compression=compression)),
    ]
    items = assembled(events, mariadb=False)
    assert [item.header_time_s for item in items if isinstance(item, RawRows)] == list(range(count))
    assert {item.position.offset for item in items if isinstance(item, RawRows)} == {104}
    assert items[-1] == TransactionEnd(
        BinlogPosition("b.1", 204), f"{UUID_TEXT}:1", SourceIdentity("", 7, 500)
    )


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (payload(event(types.QUERY, query_body("BEGIN"), checksum=False)), CorruptEvent),
        (payload(event(types.QUERY, query_body("BEGIN"), checksum=False)[:-3]), CorruptEvent),
        (payload(b"x" * 40)[:-9], CorruptEvent),
        (payload(b"", compression=7), UnknownEvent),
        (payload(struct.pack("<IBIIIH", 0, types.QUERY, 7, 2**32 - 1, 0, 0)), CorruptEvent),
        (
            payload(struct.pack("<IBIIIH", 0, types.QUERY, 7, 2**30, 0, 0), compression=255),
            CorruptEvent,
        ),
        (payload(event(types.TRANSACTION_PAYLOAD, payload(b""), checksum=False)), CorruptEvent),
        (payload(event(types.GTID, mysql_gtid_body(2), checksum=False)), CorruptEvent),
        (b"\x09\1\0", UnknownEvent),
        (b"\1", CorruptEvent),
    ],
)
def test_broken_payloads_stop(body: bytes, error: type[Exception]) -> None:
    feed = Feed()
    with pytest.raises(error, match=r"b\.1:104"):
        assembled(
            [feed(types.GTID, mysql_gtid_body(1)), feed(types.TRANSACTION_PAYLOAD, body)],
            mariadb=False,
        )


@pytest.mark.parametrize(
    ("type_code", "body"),
    [
        (types.INCIDENT, b""),
        (types.EXECUTE_LOAD_QUERY, b""),
    ],
)
def test_what_cannot_be_published_correctly_stops(type_code: int, body: bytes) -> None:
    feed = Feed()
    with pytest.raises(UnsupportedEvent, match=r"b\.1:104"):
        assembled([feed(types.GTID, mysql_gtid_body(1)), feed(type_code, body)])


PREPARED = b"\0" + (1).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(4) + b"x"
XID = "X'78',X'',1"


def steps(items: list[RawItem]) -> list[str]:
    return [
        item.action.value if isinstance(item, XaStep) else type(item).__name__ for item in items
    ]


def test_mysqls_groups_of_xa_say_what_becomes_of_their_rows() -> None:
    feed = Feed()
    rows = [feed(types.TABLE_MAP, table_map_body(5)), feed(types.WRITE_ROWS, rows_body(5))]
    begun = [
        feed(types.GTID, mysql_gtid_body(1)),
        feed(types.QUERY, query_body(f"XA START {XID}")),
        *rows,
    ]
    end = feed(types.QUERY, query_body(f"XA END {XID}"))
    prepared = assembled([*begun, end, feed(types.XA_PREPARE, PREPARED)], mariadb=False)
    assert steps(prepared) == ["TransactionBegin", "BEGIN", "RawRows", "PREPARE", "TransactionEnd"]
    assert {item.xid for item in prepared if isinstance(item, XaStep)} == {XID}
    at_once = assembled([*begun, end, feed(types.XA_PREPARE, b"\1" + PREPARED[1:])], mariadb=False)
    assert steps(at_once)[3:] == ["COMMIT ONE PHASE", "TransactionEnd"]
    closed = assembled([*begun, feed(types.XID, bytes(8))], mariadb=False)
    assert steps(closed)[3:] == ["COMMIT ONE PHASE", "TransactionEnd"]
    for verb in ("COMMIT", "ROLLBACK"):
        done = assembled(
            [
                feed(types.GTID, mysql_gtid_body(2)),
                feed(types.QUERY, query_body(f"XA {verb} {XID}")),
            ],
            mariadb=False,
        )
        assert steps(done) == ["TransactionBegin", verb, "TransactionEnd"]


def test_mariadbs_groups_of_xa_are_named_by_their_gtid_events() -> None:
    feed = Feed()
    name = b"\1\0\0\0\1\0x"
    rows = [feed(types.TABLE_MAP, table_map_body(5)), feed(types.WRITE_ROWS, rows_body(5))]
    events = [feed(types.MARIADB_GTID, mariadb_gtid_body(1, 0x40, tail=name)), *rows]
    events += [feed(types.QUERY, query_body(f"XA END {XID}")), feed(types.XA_PREPARE, PREPARED)]
    events += [
        feed(types.MARIADB_GTID, mariadb_gtid_body(2, 0x80, tail=name)),
        feed(types.QUERY, query_body(f"XA COMMIT {XID}")),
    ]
    items = assembled(events)
    assert steps(items) == [
        *("TransactionBegin", "BEGIN", "RawRows", "PREPARE", "TransactionEnd"),
        *("TransactionBegin", "COMMIT", "TransactionEnd"),
    ]
    assert {item.xid for item in items if isinstance(item, XaStep)} == {XID}


@pytest.mark.parametrize("body", [b"\0", PREPARED[:-1]])
def test_a_name_that_is_cut_short_stops(body: bytes) -> None:
    feed = Feed()
    with pytest.raises(CorruptEvent, match=r"b\.1:104"):
        assembled([feed(types.GTID, mysql_gtid_body(1)), feed(types.XA_PREPARE, body)])


def test_unknown_events_stop_unless_they_say_that_they_may_be_passed_over() -> None:
    feed = Feed()
    assert assembled([feed(99, b"", flags=types.IGNORABLE_FLAG)]) == []
    with pytest.raises(UnknownEvent, match="type 99"):
        assembled([feed(99, b"")])


def test_rows_need_their_table_map() -> None:
    feed = Feed()
    begin = feed(types.MARIADB_GTID, mariadb_gtid_body(1))
    assert kinds(assembled([begin, feed(types.WRITE_ROWS, rows_body(0xFFFFFF))])) == [
        "TransactionBegin"
    ]
    with pytest.raises(CorruptEvent, match="number 9"):
        assembled([begin, feed(types.WRITE_ROWS, rows_body(9))])
    with pytest.raises(CorruptEvent, match="outside of any transaction"):
        assembled([feed(types.TABLE_MAP, table_map_body(9))])
    with pytest.raises(CorruptEvent, match="cannot be read"):
        assembled([feed(types.MARIADB_GTID, b"\1")])


@given(st.lists(st.sampled_from(["rows", "ddl", "empty", "beat", "rotate"]), max_size=30))
def test_every_begin_has_its_end_and_positions_never_go_back(shapes: list[str]) -> None:
    feed = Feed()
    events: list[BinlogEvent] = []
    for number, shape in enumerate(shapes):
        gtid = mariadb_gtid_body(number + 1, 1 if shape == "ddl" else 0)
        if shape == "beat":
            events.append(
                BinlogEvent(types.HEARTBEAT, 0, 0, 7, feed.offset, feed.offset, memoryview(b""))
            )
        elif shape == "rotate":
            events += file_start(f"b.{number + 2}")
            feed.offset = 4
        else:
            events.append(feed(types.MARIADB_GTID, gtid))
            events += rows(feed) if shape == "rows" else []
            events.append(
                feed(types.QUERY, query_body("DROP TABLE t"))
                if shape == "ddl"
                else feed(types.XID, bytes(8))
            )
    items = assembled(events)
    places = [(int(item.position.file[2:]), item.position.offset) for item in items]
    assert places == sorted(places)
    bounds = [item for item in items if isinstance(item, TransactionBegin | TransactionEnd)]
    assert [type(item) for item in bounds] == [TransactionBegin, TransactionEnd] * (
        len(bounds) // 2
    )
    assert [a.gtid for a in bounds[::2]] == [b.gtid for b in bounds[1::2]]
    assert len(bounds) // 2 == sum(shape in ("rows", "ddl", "empty") for shape in shapes)

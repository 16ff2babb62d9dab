"""Where transactions begin and end, for every shape that a server logs, and until when each may
have been committed.
"""

from collections.abc import Callable

import pytest

from relay.model import event_types as types
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.transaction_boundaries import Bounds, TransactionBorders
from tests.unit.source.binlog_bytes import (
    Feed,
    mariadb_gtid_body,
    mysql_gtid_body,
    query_body,
    rows_body,
    table_map_body,
)

_STANDALONE, _XA = 0x01, 0x80


def _query(feed: Feed, sql: str, time_s: int = 1000) -> BinlogEvent:
    return feed(types.QUERY, query_body(sql), time_s=time_s)


def _rows(feed: Feed) -> list[BinlogEvent]:
    return [feed(types.TABLE_MAP, table_map_body(5)), feed(types.WRITE_ROWS, rows_body(5))]


_SHAPES: dict[str, Callable[[Feed], list[BinlogEvent]]] = {
    "MySQL before 5.7": lambda feed: [
        _query(feed, "BEGIN"),
        *_rows(feed),
        feed(types.XID, bytes(8)),
    ],
    "a table without transactions": lambda feed: [
        _query(feed, "BEGIN"),
        *_rows(feed),
        _query(feed, "COMMIT"),
    ],
    "DDL without GTIDs": lambda feed: [_query(feed, "DROP TABLE t")],
    "anonymous": lambda feed: [
        feed(types.ANONYMOUS_GTID, mysql_gtid_body(0)),
        _query(feed, "BEGIN"),
        *_rows(feed),
        feed(types.XID),
    ],
    "GTID": lambda feed: [
        feed(types.GTID, mysql_gtid_body(3)),
        _query(feed, "BEGIN"),
        *_rows(feed),
        feed(types.XID),
    ],
    "GTID and DDL": lambda feed: [
        feed(types.GTID, mysql_gtid_body(3)),
        _query(feed, "CREATE TABLE t (id INT)"),
    ],
    "CREATE TABLE … SELECT": lambda feed: [
        feed(types.GTID, mysql_gtid_body(3)),
        _query(feed, "BEGIN"),
        _query(feed, "CREATE TABLE t (id INT) START TRANSACTION"),
        *_rows(feed),
        feed(types.XID),
    ],
    "a payload": lambda feed: [
        feed(types.GTID, mysql_gtid_body(3)),
        feed(types.TRANSACTION_PAYLOAD),
    ],
    "a savepoint": lambda feed: [
        feed(types.GTID, mysql_gtid_body(3)),
        _query(feed, "BEGIN"),
        _query(feed, "SAVEPOINT s"),
        *_rows(feed),
        _query(feed, "ROLLBACK TO s"),
        _query(feed, "ROLLBACK"),
    ],
    "XA": lambda feed: [
        feed(types.GTID, mysql_gtid_body(3)),
        _query(feed, "XA START X'01',X'',1"),
        *_rows(feed),
        _query(feed, "XA END X'01',X'',1"),
        feed(types.XA_PREPARE),
    ],
    "XA COMMIT": lambda feed: [
        feed(types.GTID, mysql_gtid_body(3)),
        _query(feed, "XA COMMIT X'01',X'',1"),
    ],
    "MariaDB": lambda feed: [
        feed(types.MARIADB_GTID, mariadb_gtid_body(12)),
        *_rows(feed),
        feed(types.XID, bytes(8)),
    ],
    "MariaDB and DDL": lambda feed: [
        feed(types.MARIADB_GTID, mariadb_gtid_body(12, _STANDALONE)),
        _query(feed, "DROP TABLE t"),
    ],
    "MariaDB and XA COMMIT": lambda feed: [
        feed(
            types.MARIADB_GTID, mariadb_gtid_body(12, _XA, tail=bytes(4) + b"\1\1" + b"\0" + b"xy")
        ),
        _query(feed, "XA COMMIT X'01',X'',1"),
    ],
}


@pytest.mark.parametrize("shape", list(_SHAPES))
def test_every_shape_is_one_transaction(shape: str) -> None:
    borders, feed = TransactionBorders(), Feed()
    for _ in range(2):
        start = feed.offset
        *inside, last = _SHAPES[shape](feed)
        assert [borders.feed(each) for each in inside] == [None] * len(inside)
        assert borders.feed(last) == Bounds(start, feed.offset, 1_000_999)


def test_the_last_second_of_begin_and_end_counts() -> None:
    borders, feed = TransactionBorders(), Feed()
    events = [_query(feed, "BEGIN", 10), *_rows(feed), feed(types.XID, bytes(8), time_s=15)]
    assert [borders.feed(each) for each in events][-1] == Bounds(4, feed.offset, 15_999)


def test_a_commit_time_of_the_server_goes_before_headers() -> None:
    borders, feed = TransactionBorders(), Feed()
    events = [
        feed(types.GTID, mysql_gtid_body(3, 1_700_000_000_123_456)),
        _query(feed, "DROP TABLE t", 2**31),
    ]
    assert [borders.feed(each) for each in events][-1] == Bounds(4, feed.offset, 1_700_000_000_123)


def test_an_unfinished_transaction_counts_for_nothing() -> None:
    borders, feed = TransactionBorders(), Feed()
    assert [
        borders.feed(each)
        for each in (feed(types.MARIADB_GTID, mariadb_gtid_body(1)), *_rows(feed))
    ] == [None] * 3
    start = feed.offset
    assert [borders.feed(each) for each in _SHAPES["MariaDB"](feed)][-1] == Bounds(
        start, feed.offset, 1_000_999
    )


def test_reading_that_begins_inside_a_transaction_ends_none() -> None:
    borders, feed = TransactionBorders(), Feed()
    assert [
        borders.feed(each)
        for each in (
            *_rows(feed),
            _query(feed, "ROLLBACK TO s"),
            feed(types.XID),
            _query(feed, "COMMIT"),
        )
    ] == [None] * 5

"""Compressed transactions and events take no more memory than what they hold, whatever they
announce.
"""

import tracemalloc
import zlib

import pytest

from relay.errors import CorruptEvent
from relay.model import event_types as types
from relay.model.change import RawRows
from relay.model.positions.position import SourceIdentity
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.transaction_assembler import TransactionAssembler
from tests.unit.source.binlog_bytes import (
    Feed,
    event,
    mariadb_gtid_body,
    mysql_gtid_body,
    query_body,
    rows_body,
    table_map_body,
)
from tests.unit.source.test_transaction_assembler import payload


def fed(*events: BinlogEvent) -> None:
    assembler = TransactionAssembler(mariadb=True, identity=SourceIdentity("", 7, 500))
    for each in events:
        list(assembler.feed(each))


def test_a_large_payload_takes_the_memory_of_one_event() -> None:
    rows = 400
    inner = event(types.QUERY, query_body("BEGIN"), checksum=False) + event(
        types.TABLE_MAP, table_map_body(1), checksum=False
    )
    inner += event(types.WRITE_ROWS, rows_body(1, bytes(100_000)), checksum=False) * rows + event(
        types.XID, bytes(8), checksum=False
    )
    packed = payload(inner)
    feed = Feed()
    assembler = TransactionAssembler(mariadb=False, identity=SourceIdentity("", 7, 500))
    tracemalloc.start()
    try:
        list(assembler.feed(feed(types.GTID, mysql_gtid_body(1))))
        seen = sum(
            isinstance(item, RawRows)
            for item in assembler.feed(feed(types.TRANSACTION_PAYLOAD, packed))
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seen == rows
    assert peak < len(inner) // 20


@pytest.mark.parametrize(
    "packed",
    [
        b"\x87" + b"\xff" * 7 + zlib.compress(b"x"),
        b"\x84" + (2**30 + 1).to_bytes(4, "big") + zlib.compress(b"x"),
        b"\x84" + (2**30 - 1).to_bytes(4, "big") + zlib.compress(b"x"),
        b"\x81\x02" + zlib.compress(b"xxx"),
        b"\x81\x03" + zlib.compress(b"xxx")[:-1],
        b"\x91\x03" + zlib.compress(b"xxx"),
        b"\x82\x03",
        b"",
    ],
)
def test_a_compressed_statement_with_a_false_length_stops_and_takes_no_memory(
    packed: bytes,
) -> None:
    feed = Feed()
    body = query_body("") + packed
    tracemalloc.start()
    try:
        with pytest.raises(CorruptEvent, match=":104"):
            fed(
                feed(types.MARIADB_GTID, mariadb_gtid_body(1, 1)),
                feed(types.MARIADB_QUERY_COMPRESSED, body),
            )
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()

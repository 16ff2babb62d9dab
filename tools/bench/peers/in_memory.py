"""Reads a binlog file and prints its messages in memory and in one thread, for profilers.

    python -m tools.bench.peers.in_memory write orders.binlog
    valgrind --tool=callgrind python -m tools.bench.peers.in_memory read orders.binlog

All packages from source to encode run; the messages are counted instead of published.
"""

import argparse
import gc
import socket
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Final

from deploy.embedded import MariaDB
from relay.decode import RowDecoder
from relay.errors import SourceUnreachable
from relay.model.change import RawItem, RawRows, RowsEvent, StreamItem
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import Chunk
from relay.pipeline.ingest.compiled_events import event_scanner
from relay.source.events.transaction_assembler import TransactionAssembler
from relay.source.protocol.binlog_reader import BinlogReader
from relay.source.protocol.packets import PacketReader
from tests.support.rows.publishers import CountedMessages, publisher_without_servers
from tests.unit.route.mappings import documents, router
from tests.unit.source.binlog_bytes import packet, rotate, sent
from tools.bench.measuring.orders import Orders
from tools.bench.measuring.workload import SCHEMA, fill

_ROWS: Final = 20_000
_TRANSACTIONS: Final = 4_000
_MAGIC_BYTES: Final = 4
_STEP_ITEMS: Final = 1024
_TOPIC: Final = "orders"
_ROUTER: Final = router(
    documents(
        dbs=[{"logicDb": SCHEMA, "realDbs": SCHEMA}],
        tbs=[{"logicTb": "orders", "realTbs": "orders_0,orders_1"}],
        topics=[{"logicDb": SCHEMA, "topic": _TOPIC}],
    )
)


class _File(socket.socket):
    """A connection that returns a binlog dump from memory."""

    rest: memoryview

    def recv_into(self, buffer: memoryview, *_: object) -> int:  # type: ignore[override]  # the reader gives it nothing else
        size = min(len(buffer), len(self.rest))
        buffer[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        return size


def main() -> None:
    """Write the binlog file, or read it and print its messages in memory."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.peers.in_memory", description=__doc__
    )
    parser.add_argument("what", choices=["write", "read"])
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--times",
        type=int,
        default=1,
        help="number of times that the file is read from its beginning",
    )
    arguments = parser.parse_args()
    if arguments.what == "write":
        write(arguments.file)
        return
    stream = _as_dump(arguments.file.read_bytes())
    gc.disable()
    for _ in range(arguments.times):
        began = process_time()
        rows, value_bytes = read(stream)
        spent = process_time() - began
        print(f"{rows:,} rows, {value_bytes:,} bytes of values: {spent / rows * 1e6:.2f} µs a row")


def write(file: Path) -> None:
    """Write the binlog of a small, common workload into a file."""
    with MariaDB() as database:
        fill(database, Orders(_ROWS, _TRANSACTIONS))
        with database.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW BINARY LOGS")
            names = [str(row[0]) for row in cursor.fetchall()]
        file.write_bytes((database.data / names[-1]).read_bytes())


def read(stream: bytes) -> tuple[int, int]:
    """Decode a binlog stream and serialize every row in memory.

    Return the number of rows and the bytes of their messages' values.
    """
    start = SourcePosition(BinlogPosition("binlog.000001", 4), "", SourceIdentity("", 1, 0))
    producer = CountedMessages()
    record = PositionRecord(start, OrderPair(0, 0), epoch=0, change_time_ms=0)
    publisher = publisher_without_servers(record, producer, _ROUTER, {_TOPIC: 4})
    items = _decoded(_assembled(stream))
    while publisher.take(Chunk([*islice(items, _STEP_ITEMS)])):
        pass
    publisher.checkpoint.commit_if_due(idle=True)
    return producer.rows, producer.value_bytes


def _as_dump(binlog: bytes) -> bytes:
    """Return the file as the packets of a binlog dump."""
    events, at = [], _MAGIC_BYTES
    while at < len(binlog):
        size = int.from_bytes(binlog[at + 9 : at + 13], "little")
        events.append(packet(b"\0" + binlog[at : at + size]))
        at += size
    return sent([rotate("binlog.000001")]) + b"".join(events)


def _assembled(stream: bytes) -> Iterator[RawItem]:
    near = _File()
    near.rest = memoryview(stream)
    group = TransactionAssembler(mariadb=True, identity=SourceIdentity("", 1, 0))
    scanner = event_scanner()
    with near:
        reader = BinlogReader(PacketReader(near, "a file"), "a file")
        try:
            for event in reader.events():
                yield from group.feed(event)
                while scanner is not None and (items := reader.scan(scanner, group)):
                    yield from items
        except SourceUnreachable:
            return


def _decoded(items: Iterable[RawItem]) -> Iterator[StreamItem]:
    decoder = RowDecoder()
    for item in items:
        event: RowsEvent | StreamItem = decoder.open(item) if isinstance(item, RawRows) else item
        yield event


if __name__ == "__main__":
    main()

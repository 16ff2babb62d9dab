"""A source inside a transaction: what still arrives is waited for, what does not is given up, and
no Kafka transaction is held open.
"""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import SimpleNamespace
from typing import Any, Final

import pytest

from relay.errors import BatchAborted
from relay.model import event_types as types
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.ingest.open_sources import OpenSource, OpenSources
from relay.pipeline.ingest.reader import Reader
from relay.pipeline.ingest.source_stall import SourceStall
from relay.pipeline.publishing.publish_loop import PublishLoop
from relay.settings import BufferSettings, InstanceSettings, SourceSettings
from relay.source import SourceStream
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import WRITE_V2, WrittenColumn, WrittenTable, image, rows_body
from tests.unit.route.mappings import documents, router
from tests.unit.source.binlog_bytes import description, event, mariadb_gtid_body, packet, rotate

STALL_SECONDS: Final = 0.4
TIMEOUT_SECONDS: Final = 1.0
"""The shortest transaction timeout that the settings take; a part ends after a third of it."""
TABLE: Final = WrittenTable(
    [
        WrittenColumn(type=3, name="id", nullable=False, unsigned=False),
        WrittenColumn(type=252, metadata=b"\4", name="b", collation=63),
    ],
    primary_key=(0,),
)
START: Final = SourcePosition(BinlogPosition("b.000001", 4), "", SourceIdentity("", 7, 0))
Step = tuple[float, bytes]
"""Seconds of silence, and what the server sends after them."""


class Connection:
    """A source whose dump is one end of a socket."""

    address = "db:3306"
    settings = SourceSettings(host="db", user="u", server_id=7)

    def __init__(self, near: socket.socket) -> None:
        self.near = near

    def taken_over(self) -> socket.socket:
        return self.near

    def cut(self) -> None:
        self.near.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.near.close()


class TimedMessages(SentMessages):
    """A producer that measures how long its transactions are open."""

    longest_seconds = 0.0
    commits = 0
    _opened_s = 0.0

    @property
    def open_seconds(self) -> float:
        seconds = monotonic() - self._opened_s if self._opened_s else 0.0
        self.longest_seconds = max(self.longest_seconds, seconds)
        return seconds

    @open_seconds.setter
    def open_seconds(self, seconds: float) -> None:
        self._opened_s = (self._opened_s or monotonic()) if seconds else 0.0

    def commit(self, record: OutboundMessage) -> Any:
        self.commits += 1
        return super().commit(record)


class Dump:
    """Makes the packets of a dump with fingerprints that follow one another."""

    def __init__(self) -> None:
        self._end = 4
        self.head = packet(b"\0" + rotate("b.000001")) + self(
            types.FORMAT_DESCRIPTION, whole=description
        )

    def __call__(
        self, type_code: int, body: bytes = b"", *, whole: Callable[..., bytes] | None = None
    ) -> bytes:
        size = len(whole()) if whole is not None else 19 + len(body) + 4
        self._end += size
        made = (
            whole(log_pos=self._end)
            if whole is not None
            else event(type_code, body, log_pos=self._end)
        )
        return packet(b"\0" + made)

    def heartbeat(self) -> bytes:
        return packet(b"\0" + event(types.HEARTBEAT, b"b.000001", log_pos=self._end))

    def begin(self, number: int) -> bytes:
        return self(types.MARIADB_GTID, mariadb_gtid_body(number)) + self(
            types.TABLE_MAP, TABLE.map_body()
        )

    def row(self, key: int, size_bytes: int = 1) -> bytes:
        values = (struct.pack("<i", key), struct.pack("<I", size_bytes) + bytes(size_bytes))
        return self(types.WRITE_ROWS, rows_body(2, image(values), kind=WRITE_V2))

    def end(self) -> bytes:
        return self(types.XID, bytes(8))


def slowly(data: bytes, seconds: float) -> list[Step]:
    """Steps in which the data arrives steadily."""
    pieces = 40
    length = -(-len(data) // pieces)
    return [(seconds / pieces, data[at : at + length]) for at in range(0, len(data), length)]


@contextmanager
def sending(steps: list[Step]) -> Iterator[Connection]:
    near, far = socket.socketpair()
    near.settimeout(10)
    ended = threading.Event()

    def send() -> None:
        for seconds, data in steps:
            if ended.wait(seconds):
                return
            with suppress(BrokenPipeError):  # the publisher has ended
                far.sendall(data)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield Connection(near)
    finally:
        ended.set()
        far.close()
        thread.join()


def publish_from(steps: list[Step], rows: int, *, seconds: float = 10) -> TimedMessages:
    """Publish what the source sends until so many rows are published and committed.

    Raises what ends a session.
    """
    settings: Any = {"host": "h", "user": "u", "server_id": 7}
    transaction = {"source_stall_seconds": STALL_SECONDS, "timeout_ms": int(TIMEOUT_SECONDS * 1000)}
    instance = InstanceSettings.model_validate(
        {"name": "x", "source": settings, "transaction": transaction}
    )
    messages, stop = TimedMessages(), threading.Event()
    mapping = router(
        documents(
            dbs=[{"logicDb": "shop", "realDbs": "shop"}],
            topics=[{"logicDb": "shop", "topic": "shop"}],
        )
    )
    record = PositionRecord(START, OrderPair(0, 0), epoch=1, change_time_ms=0)
    publisher = publisher_without_servers(
        record, messages, mapping, {"shop": 1}, transaction=transaction
    )
    buffer = ChangeBuffer(BufferSettings())
    flow: Any = SimpleNamespace(paused=False, holds_back=lambda _: False)
    election: Any = SimpleNamespace(gives_way=lambda: None, leads=lambda **_: True)
    call: Any = SimpleNamespace(pending=lambda: False)
    loop = PublishLoop(instance, election, flow, call, buffer)
    deadline = monotonic() + seconds

    def check() -> None:
        if monotonic() > deadline or (
            publisher.progress.whole and len(published(messages)) >= rows
        ):
            stop.set()

    with sending(steps) as connection:
        server: Any = SimpleNamespace(server_uuid="", server_id=7, mariadb=True)
        stream = SourceStream(connection, server, START, by_gtid=False, excluded=())  # type: ignore[arg-type]
        reader = Reader("x", stream, buffer, lambda: None)
        nobody: Any = None
        reader.start()
        try:
            loop.run(
                publisher,
                stop,
                OpenSources(
                    record, False, {"": OpenSource(stream, nobody, None)}, {}, {}, nobody, check
                ),
            )
        finally:
            reader.stop()
    return messages


def published(messages: SentMessages) -> list[OutboundMessage]:
    return [each for each in messages.messages if each.topic == "shop"]


def test_an_event_that_arrives_for_longer_than_the_limit_is_no_stall() -> None:
    dump = Dump()
    large = slowly(dump.begin(1) + dump.row(1, 2_000_000), 4 * STALL_SECONDS)
    assert len(published(publish_from([(0, dump.head), *large, (0, dump.end())], 1))) == 1


def test_no_kafka_transaction_stays_open_while_one_event_arrives() -> None:
    dump = Dump()
    first = dump.begin(1) + dump.row(1)
    steps = [
        (0, dump.head + first),
        *slowly(dump.row(2, 2_000_000), 4 * STALL_SECONDS),
        (0, dump.end()),
    ]
    messages = publish_from(steps, 2)
    assert len(published(messages)) == 2
    assert messages.commits >= 2, "the first row does not wait for the second one"
    assert messages.longest_seconds < TIMEOUT_SECONDS, (
        "a third, and a quarter of a second until the loop looks"
    )


def test_a_source_that_sends_nothing_inside_a_transaction_stalls() -> None:
    dump = Dump()
    begin = monotonic()
    with pytest.raises(BatchAborted, match="sent nothing for"):
        publish_from([(0, dump.head + dump.begin(1) + dump.row(1)), (3, dump.end())], 1)
    assert STALL_SECONDS < monotonic() - begin < 2.5


def test_heartbeats_inside_a_transaction_are_no_movement() -> None:
    dump = Dump()
    beats = [(STALL_SECONDS / 4, dump.heartbeat())] * 30
    with pytest.raises(BatchAborted, match="sent nothing for"):
        publish_from([(0, dump.head + dump.begin(1) + dump.row(1)), *beats], 1)


def test_half_an_event_that_stays_half_stalls() -> None:
    dump = Dump()
    row = dump.row(1, 100_000)
    with pytest.raises(BatchAborted, match="sent nothing for"):
        publish_from([(0, dump.head + dump.begin(1) + row[:50_000]), (3, row[50_000:])], 1)


def test_only_the_source_whose_transaction_is_open_can_stall() -> None:
    nobody: Any = None
    streams: Any = {
        "a": SimpleNamespace(silent_seconds=60.0),
        "b": SimpleNamespace(silent_seconds=0.0),
    }
    stall = SourceStall(
        {name: OpenSource(stream, nobody, None) for name, stream in streams.items()}, 0.0
    )
    stall.check("b")
    with pytest.raises(BatchAborted, match="sent nothing for"):
        stall.check("a")

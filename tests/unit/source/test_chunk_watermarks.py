"""The low watermark of a chunk is compared with the server that shows it, and with its GTIDs."""

from typing import Any

import pytest

from relay.errors import SourceUnreachable
from relay.model.positions.position import BinlogPosition
from relay.settings import SourceSettings
from relay.source import ChunkConnection, Low
from relay.source.protocol.server_facts import ServerFacts

END = BinlogPosition("m-bin.000003", 4)
SHOWN = BinlogPosition("m-bin.000003", 900)
SERVER = ServerFacts("mariadb", (11, 4, 9), "11.4.9-MariaDB", 7, "", {})


class Server:
    """A connection to a MariaDB server whose snapshots end at SHOWN, where its GTIDs are these."""

    address = "db:3306"

    def __init__(self, gtids: str | None) -> None:
        self.gtids = gtids
        self.asked = 0

    def rows(self, sql: str, *_: object) -> list[tuple[Any, ...]]:
        if "SESSION_STATUS" in sql:
            return [
                ("BINLOG_SNAPSHOT_FILE", SHOWN.file),
                ("BINLOG_SNAPSHOT_POSITION", str(SHOWN.offset)),
            ]
        if "BINLOG_GTID_POS" in sql:
            self.asked += 1
            return [(self.gtids,)]
        return [(SHOWN.file, SHOWN.offset)]

    def raw_rows(self, _: str) -> list[tuple[bytes | None, ...]]:
        return [(b"1",)]


def reader(server: Server, monkeypatch: pytest.MonkeyPatch) -> ChunkConnection:
    monkeypatch.setattr("relay.source.chunks.LOW_SECONDS", 0.0)
    found = ChunkConnection(SourceSettings(host="db", user="u"))
    monkeypatch.setattr(found, "_connection", server)
    monkeypatch.setattr(found, "_server", SERVER)
    return found


def low(gtid_set: str, begin: BinlogPosition | None = None) -> Low:
    return Low("7", gtid_set, begin, END)


@pytest.mark.parametrize(
    ("shown", "is_read"),
    [
        ("0-1-9", False),
        ("0-1-10", False),
        ("0-1-10,1-1-4", False),
        ("0-1-10,1-1-5", True),
        (None, False),
    ],
)
@pytest.mark.parametrize("begin", [None, BinlogPosition(END.file, 500)])
def test_a_chunk_is_read_where_a_snapshot_shows_the_last_gtid_of_each_domain(
    shown: str | None,
    is_read: bool,
    begin: BinlogPosition | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chunks = reader(Server(shown), monkeypatch)
    assert (chunks.read(low("0-1-10,1-1-5", begin), "select") is not None) == is_read


def test_gtids_are_asked_for_once_where_the_last_transaction_was_read_on_this_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server("0-1-10")
    chunks = reader(server, monkeypatch)
    for number in ("0-1-10", "0-1-10"):
        assert chunks.read(low(number), "select") is not None
    assert server.asked == 2
    begin = BinlogPosition(END.file, 899)
    assert chunks.read(low("0-1-11", begin), "select") is not None
    assert chunks.read(low("0-1-11", SHOWN), "select") is None
    assert server.asked == 2


def test_a_server_that_is_not_the_streams_is_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = reader(Server("0-1-10"), monkeypatch)
    with pytest.raises(
        SourceUnreachable, match="is 7, but the instance's stream is read from the server 8"
    ):
        chunks.read(Low("8", "0-1-10", None, END), "select")

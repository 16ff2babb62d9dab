"""The number under which a source knows the relay: found when it is not configured, kept, and never
somebody else's.
"""

import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

import pytest

from deploy.embedded import SqlServer
from relay.model.positions.position import BinlogPosition
from relay.settings import StartSettings
from relay.source import SourceStream, check_source, open_source
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.packets import PacketReader
from relay.source.protocol.replica_id import chosen_server_id
from tests.servers.fixtures import FreshName
from tests.support.sources.source_reading import ask, source_settings

_REGISTER: Final = 0x15


def _registered(server: SqlServer) -> set[int]:
    newer = ask(server, "SELECT VERSION()")[0][0].startswith("9.")
    return {int(row[0]) for row in ask(server, "SHOW REPLICAS" if newer else "SHOW SLAVE HOSTS")}


@contextmanager
def _reading(server: SqlServer, replica: str) -> Iterator[SourceStream]:
    """A relay without a server_id of its own, as an account that may see replicas on every
    server.
    """
    settings = source_settings(server, server_id=None, user=server.admin, password=server.admin)
    with closing(open_source(settings, None, StartSettings(), replica=replica)) as stream:
        items = stream.items()
        assert isinstance(next(items).position, BinlogPosition)
        yield stream
        next(items)  # it was not ended meanwhile


@contextmanager
def _foreign_replica(server: SqlServer, server_id: int) -> Iterator[None]:
    """A replica that is no relay takes the number, as a server's replication thread does."""
    settings = source_settings(server, user=server.admin, password=server.admin)
    with closing(SourceConnection(settings)) as connection:
        connection.rows(
            "SET @slave_uuid='3e11fa47-71ca-11e1-9e33-c80aa9429562', "
            "@replica_uuid='3e11fa47-71ca-11e1-9e33-c80aa9429562'"
        )
        body = (
            struct.pack("<BIB", _REGISTER, server_id, 5)
            + b"other"
            + struct.pack("<BBHII", 0, 0, 0, 0, 0)
        )
        taken = connection.taken_over()
        taken.sendall(struct.pack("<I", len(body)) + body)
        assert PacketReader(taken, "source").next_payload()[0] == 0
        yield


@pytest.fixture(params=["mariadb", "mariadb_10_11", "mysql_9", "mysql_5_6"])
def server(request: pytest.FixtureRequest) -> SqlServer:
    found: SqlServer = request.getfixturevalue(request.param)
    return found


def test_two_relays_without_a_number_read_side_by_side(
    server: SqlServer, fresh_name: FreshName
) -> None:
    first, second = fresh_name("roma.shop"), fresh_name("roma.crm")
    with _reading(server, first), _reading(server, second):
        assert {chosen_server_id(first, set()), chosen_server_id(second, set())} <= _registered(
            server
        )


def test_a_number_that_another_replica_has_is_passed_over(
    server: SqlServer, fresh_name: FreshName
) -> None:
    replica = fresh_name("roma.shop")
    wanted = chosen_server_id(replica, set())
    with _foreign_replica(server, wanted), _reading(server, replica):
        assert chosen_server_id(replica, {wanted}) in _registered(server)
    settings = source_settings(server, server_id=None, user=server.admin, password=server.admin)
    (check,) = [
        each for each in check_source(settings, replica=replica) if each.name == "source server_id"
    ]
    assert check.error is None
    assert "which the relay chose" in check.detail

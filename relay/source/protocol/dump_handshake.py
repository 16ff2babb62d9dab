"""Sends the commands that a replica sends before it requests the binlog."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from relay.errors import SourceNotPermitted, SourceUnreachable, UnsupportedEvent
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition
from relay.source.protocol.binlog_reader import BinlogReader
from relay.source.protocol.commands import (
    SEND_ANNOTATE_ROWS,
    binlog_dump,
    binlog_dump_gtid,
    register_replica,
    replica_uuid,
)
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.packets import PacketReader
from relay.source.protocol.server_errors import from_packet
from relay.source.protocol.server_facts import ServerFacts

_LAST_DUMP_OFFSET: Final = 2**32 - 1
_NOT_BLOCKING: Final = 0x01
_READING_TOOL: Final = 0  # server id of mysqlbinlog; no other replica's dump is ended for it
_BY_STATE: Final = BinlogPosition(
    "", 4
)  # MariaDB then reads from the GTID state that the session has set
_LARGE_OFFSET_REMEDY: Final = (
    "Set source.gtid = true, or start at the beginning of the next binlog file: an event "
    "cannot be read by such an offset."
)


def _say_what_we_read(connection: SourceConnection, server: ServerFacts) -> None:
    """Set the session's variables for a dump: heartbeats, checksums, MariaDB's capability, MySQL's
    replica uuid.
    """
    heartbeat_ns = int(connection.settings.heartbeat_seconds * 1e9)
    # MySQL 8.0.26 and later know the second name; the first is the only one of all others.
    for prefix in ("master",) if server.mariadb else ("master", "source"):
        connection.rows(
            f"SET @{prefix}_heartbeat_period={heartbeat_ns}, @{prefix}_binlog_checksum='CRC32'"
        )
    if server.mariadb:
        connection.rows("SET @mariadb_slave_capability=4")


def start_dump(
    connection: SourceConnection,
    server: ServerFacts,
    server_id: int,
    at: BinlogPosition,
    published: GtidSet | None,
) -> None:
    """Register as the replica `server_id`, and request all transactions that are not in
    `published`; if that is None, request the binlog from `at`.

    Raises SourceNotPermitted without REPLICATION SLAVE. The server's errors about the position
    arrive with the first packets.
    """
    _say_what_we_read(connection, server)
    if not server.mariadb:
        own = replica_uuid(server_id)
        connection.rows(f"SET @slave_uuid='{own}', @replica_uuid='{own}'")
    elif published is not None:
        connection.rows(
            f"SET @slave_connect_state='{published}', @slave_gtid_strict_mode=1, "
            f"@slave_gtid_ignore_duplicates=0"
        )
    taken = connection.taken_over()
    _send(connection, taken, register_replica(server_id))
    answer = PacketReader(taken, connection.address).next_payload()
    if not len(answer) or answer[0] != 0:
        refusal = from_packet(
            answer, f"The source at {connection.address} refused to accept the relay as a replica"
        )
        if isinstance(refusal, SourceNotPermitted):
            raise lacks_replication_slave(connection.address, server) from refusal
        raise refusal
    _send(connection, taken, _dump(server, server_id, at, published))


@contextmanager
def reading_from(
    connection: SourceConnection, server: ServerFacts, at: BinlogPosition
) -> Iterator[BinlogReader]:
    """Context manager: read the binlog from a position to its end, without registering as a
    replica.

    The connection cannot be used for anything else. Raises SourceNotPermitted without REPLICATION
    SLAVE.
    """
    try:
        _say_what_we_read(connection, server)
        taken = connection.taken_over()
        _send(connection, taken, _dump_from(server, _READING_TOOL, at, _NOT_BLOCKING))
        yield BinlogReader(PacketReader(taken, connection.address), connection.address, ends=True)
    except SourceNotPermitted as exc:
        raise lacks_replication_slave(connection.address, server) from exc


def lacks_replication_slave(address: str, server: ServerFacts) -> SourceNotPermitted:
    """Return the error for the missing privilege REPLICATION SLAVE, which the server reports only
    when a dump is requested. `address` is host:port.
    """
    return SourceNotPermitted(
        f"The account at {address} lacks REPLICATION SLAVE ({server.version_text})."
    )


def _dump(
    server: ServerFacts, server_id: int, at: BinlogPosition, published: GtidSet | None
) -> bytes:
    if published is not None and not server.mariadb:
        return binlog_dump_gtid(published, server_id)
    return _dump_from(server, server_id, at if published is None else _BY_STATE)


def _dump_from(server: ServerFacts, server_id: int, at: BinlogPosition, flags: int = 0) -> bytes:
    if at.offset > _LAST_DUMP_OFFSET:
        raise UnsupportedEvent(
            f"A binlog dump cannot begin at {at}: the command has only 32 bits for the offset.",
            remedy=_LARGE_OFFSET_REMEDY,
        )
    # MariaDB 11.4 and later write no position into most events: only with every event sent do the
    # sizes add up.
    whole = SEND_ANNOTATE_ROWS if server.mariadb and server.version >= (11, 4, 0) else 0
    return binlog_dump(at.file, at.offset, server_id, flags | whole)


def _send(connection: SourceConnection, taken: socket.socket, packet: bytes) -> None:
    try:
        taken.sendall(packet)
    except OSError as exc:
        raise SourceUnreachable(
            f"The connection to the source at {connection.address} broke: {exc}."
        ) from exc

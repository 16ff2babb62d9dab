"""Row events of a server's first binlog as bytes, read without the package relay.source. Implements
the part of COM_BINLOG_DUMP that tests of the decoder need: one file from its start, not blocking at
its end, CRC32 cut off.
"""

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pymysql.connections import Connection
from pymysql.protocol import MysqlPacket

from relay.model.change import RawRows
from relay.model.positions.position import BinlogPosition

if TYPE_CHECKING:

    class _Connection(Connection[Any]):
        """Types of protected methods of the library, which its stubs do not have."""

        def _execute_command(self, command: int, sql: bytes) -> None: ...
        def _read_packet(self, packet_type: Any = ...) -> "_Packet": ...

    class _Packet(MysqlPacket):
        def get_all_data(self) -> bytes: ...
else:
    _Connection = Connection

_COM_BINLOG_DUMP: Final = 0x12
_NON_BLOCKING: Final = 1
_HEADER: Final = struct.Struct("<IBIIIH")
_FIRST_OFFSET: Final = 4
_CRC32_BYTES: Final = 4
_TABLE_MAP: Final = 19
_ROWS: Final = frozenset({23, 24, 25, 30, 31, 32, 39})
_PAYLOADS: Final = frozenset({40, 165, 166, 167, 168})
_EOF: Final = 0xFE
_TEST_SERVER_ID: Final = 991


class BinlogConnection(_Connection):
    """A client connection that can ask for the binlog."""

    def row_events(self, *, mariadb: bool) -> Iterator[RawRows]:
        """Yield the row events of the oldest binlog file; a compressed one fails the test."""
        maps: dict[bytes, bytes] = {}
        for header_time_s, kind, place, body in self._events(mariadb=mariadb):
            assert kind not in _PAYLOADS, f"a compressed event of type {kind}"
            if kind == _TABLE_MAP:
                maps[body[:6]] = body
            elif kind in _ROWS:
                yield RawRows(maps[body[:6]], body, kind, header_time_s, place, mariadb)

    def events(self, *, mariadb: bool) -> Iterator[tuple[int, bytes]]:
        """Yield type and body of every event of the oldest binlog file."""
        for _, kind, _, body in self._events(mariadb=mariadb):
            yield kind, body

    def _events(self, *, mariadb: bool) -> Iterator[tuple[int, int, BinlogPosition, bytes]]:
        with self.cursor() as cursor:
            cursor.execute("SHOW BINARY LOGS")
            file = str(cursor.fetchall()[0][0])
            cursor.execute(
                "SET @master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32'"
            )
            if mariadb:
                cursor.execute("SET @mariadb_slave_capability = 4")
        request = struct.pack("<IHI", _FIRST_OFFSET, _NON_BLOCKING, _TEST_SERVER_ID) + file.encode()
        self._execute_command(_COM_BINLOG_DUMP, request)
        while (event := self._event()) is not None:
            header_time_s, kind, _, _, end, _ = _HEADER.unpack_from(event)
            yield (
                header_time_s,
                kind,
                BinlogPosition(file, end),
                event[_HEADER.size : -_CRC32_BYTES],
            )

    def _event(self) -> bytes | None:
        packet = self._read_packet().get_all_data()
        return None if packet[0] == _EOF else bytes(packet[1:])

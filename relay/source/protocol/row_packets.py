"""Reads the rows of a SELECT as the server sends them: packets of the text protocol, split into
cells.

PyMySQL's own reading makes several objects of each row, and takes most of the time of a copy.
Source: MySQL manual, client/server protocol (ProtocolText::Resultset).
"""

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

from pymysql import err
from pymysql.constants import COMMAND, CR

from relay.compiled import COMPILED

Cells: TypeAlias = "tuple[bytes | None, ...]"
_MOST_BYTES: Final = 0xFFFFFF
"""A packet of this size continues in the next one."""
_HEAD_BYTES: Final = 4
_READ_BYTES: Final = 1 << 16
_END, _ERROR = 0xFE, 0xFF
_END_BYTES: Final = 9
"""A packet of the end is shorter than this."""
_NULL, _TWO, _THREE, _EIGHT = 0xFB, 0xFC, 0xFD, 0xFE
_MORE: Final = {_TWO: 2, _THREE: 3, _EIGHT: 8}


class Login(Protocol):
    """The part of PyMySQL's connection that this module uses."""

    _rfile: Any
    _read_packet: Any
    _execute_command: Any

    def _force_close(self) -> None: ...


def cells(packet: bytes) -> Cells:
    """Return the cells of the row in a packet; None is NULL.

    Raises ValueError if the bytes are not a row.
    """
    found: list[bytes | None] = []
    at = 0
    while at < len(packet):
        size = packet[at]
        at += 1
        if size == _NULL:
            found.append(None)
            continue
        if size > _NULL:
            if size not in _MORE:
                raise ValueError("the row is damaged")
            more = _MORE[size]
            size = int.from_bytes(packet[at : at + more], "little")
            at += more
        if at + size > len(packet):
            raise ValueError("the row is damaged")
        found.append(packet[at : at + size])
        at += size
    return tuple(found)


if COMPILED:
    from relay.compiled import chunk_images

split: Final[Callable[[bytes], Cells]] = chunk_images.cells if COMPILED else cells
"""`cells`, by compiled code if available."""


def packets(data: bytes, rows: list[Cells]) -> tuple[int, bytes | None]:
    """Append the rows of the whole packets in `data` to `rows`; return (bytes used, packet that
    ends the result).

    The packet is None before the end of the result. Reading stops before a packet that continues in
    the next one. Raises ValueError if the bytes are not a row.
    """
    at = 0
    while len(data) - at >= _HEAD_BYTES:
        size = _size(data, at)
        begin, end = at + _HEAD_BYTES, at + _HEAD_BYTES + size
        if size == _MOST_BYTES or end > len(data):
            break
        if size and (data[begin] == _ERROR or (data[begin] == _END and size < _END_BYTES)):
            return end, data[begin:end]
        rows.append(cells(data[begin:end]))
        at = end
    return at, None


split_packets: Final[Callable[[bytes, list[Cells]], tuple[int, bytes | None]]] = (
    chunk_images.packets if COMPILED else packets
)
"""`packets`, by compiled code if available."""


def read_rows(login: Login, sql: str) -> list[Cells]:
    """Return all rows of a statement. Raises PyMySQL's errors."""
    login._execute_command(COMMAND.COM_QUERY, sql.encode())  # noqa: SLF001 - the driver has no faster way to rows
    columns = login._read_packet().read_length_encoded_integer()  # noqa: SLF001
    for _ in range(columns + 1):  # and the end of them
        login._read_packet()  # noqa: SLF001
    return _rows(login)


def _rows(login: Login) -> list[Cells]:
    rows: list[Cells] = []
    data = b""
    while True:
        at, last = split_packets(data, rows)
        if last is not None:
            if last[0] == _ERROR:
                err.raise_mysql_exception(last)
            return rows
        data = data[at:]
        if len(data) < _HEAD_BYTES:
            data += _some(login)
        elif (size := _size(data, 0)) < _MOST_BYTES:
            data += _exactly(login, _HEAD_BYTES + size - len(data))
        else:
            row, data = _large(login, data)
            rows.append(split(row))


def _large(login: Login, data: bytes) -> tuple[bytes, bytes]:
    """Return a row of several packets that begins in the bytes, and the remaining bytes."""
    parts, size = [], _MOST_BYTES
    while size == _MOST_BYTES:
        if len(data) < _HEAD_BYTES:
            data += _exactly(login, _HEAD_BYTES - len(data))
        size = _size(data, 0)
        if len(data) < _HEAD_BYTES + size:
            data += _exactly(login, _HEAD_BYTES + size - len(data))
        parts.append(data[_HEAD_BYTES : _HEAD_BYTES + size])
        data = data[_HEAD_BYTES + size :]
    return b"".join(parts), data


def _size(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 3], "little")


def _some(login: Login) -> bytes:
    return _answered(login, login._rfile.read1(_READ_BYTES), 1)  # noqa: SLF001


def _exactly(login: Login, size: int) -> bytes:
    return _answered(login, login._rfile.read(size), size)  # noqa: SLF001


def _answered(login: Login, data: bytes, least: int) -> bytes:
    if len(data) < least:
        login._force_close()  # noqa: SLF001
        raise err.OperationalError(
            CR.CR_SERVER_LOST, "Lost connection to MySQL server during query"
        )
    return data

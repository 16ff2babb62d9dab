"""Converts the packets of a dump to binlog events: header, checksum, and the offset of each event
in its file.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Final

from relay.errors import CorruptEvent, RelayError
from relay.model import event_types as types
from relay.model.change import RawItem
from relay.source.events.binlog_event import BinlogEvent, Group, Scanner
from relay.source.protocol.format_description import check_description, old_format, read_description
from relay.source.protocol.packets import PacketReader
from relay.source.protocol.server_errors import from_packet

_HEADER: Final = struct.Struct("<IBIIIH")
_BODY_AT: Final = 1 + _HEADER.size
_CHECKSUM_BYTES: Final = 4
_SOUND: Final = 0x2144DF1C
"""The CRC32 of any data followed by its own CRC32 (the residue of the polynomial: ITU-T V.42,
8.1.1.6).
"""
_LARGEST_OFFSET: Final = 1 << 62
"""Files are smaller, and the sum with an event's length still fits into the 64 bits of compiled
code.
"""
_WRAP: Final = (
    1 << 32
)  # the header's position has 32 bits; a file may grow beyond by one giant transaction

# Events with position 0: they are in no file, or before the requested offset. Any other event
# without a position follows its neighbour.
_PLACELESS: Final = frozenset(
    {
        types.START_V3, types.ROTATE, types.FORMAT_DESCRIPTION, types.HEARTBEAT, types.HEARTBEAT_V2,
        types.MARIADB_GTID_LIST, types.MARIADB_START_ENCRYPTION, types.MARIADB_BINLOG_CHECKPOINT,
    }
)  # fmt: skip
_HEARTBEATS: Final = (types.HEARTBEAT, types.HEARTBEAT_V2)
_OK: Final = 0
_END: Final = 0xFE
_LONGEST_END_BYTES: Final = 9
"""An EOF packet is shorter (MySQL source code documentation, Protocol::EOF_Packet)."""


class BinlogReader:
    """Reads the events of a dump, and stores the file and offset of the next event.

    `ends`: the relay requested the dump only up to the end of the binlog, and the server ends the
    dump there.
    """

    def __init__(self, packets: PacketReader, address: str, *, ends: bool = False) -> None:
        self.file = ""
        self.offset = 0
        self._packets = packets
        self._address = address
        self._ends = ends
        self._checksummed = False
        self._rotated = True

    def events(self) -> Iterator[BinlogEvent]:
        """Yield events without end; with `ends`, up to the end of the binlog.

        The body of an event is a view that is valid until the next event is requested. Raises the
        server's error, SourceSilent, SourceUnreachable, or CorruptEvent with file and offset.
        """
        next_payload = self._packets.next_payload
        unpack, new, crc32 = _HEADER.unpack_from, tuple.__new__, zlib.crc32
        while True:
            payload = next_payload()
            if len(payload) < _BODY_AT or payload[0] != _OK:
                if self._ends and _is_end(payload):
                    return
                raise self._no_event(payload)
            time_s, type_code, server_id, size, log_pos, flags = unpack(payload, 1)
            if size != len(payload) - 1:
                raise self._corrupt(f"declares {size} bytes and has {len(payload) - 1}")
            end = log_pos or self.offset + size
            if (
                self._checksummed
                and end >= self.offset
                and type_code not in _PLACELESS
                and not flags & types.ARTIFICIAL_FLAG
            ):
                # Nearly all events are like this one; they are many, and what each costs counts.
                if crc32(payload[1:]) != _SOUND:
                    raise self._unsound()
                self.offset, body = end, payload[_BODY_AT:-_CHECKSUM_BYTES]
                yield new(BinlogEvent, (type_code, flags, time_s, server_id, end - size, end, body))
                continue
            body = self._body(payload, type_code, flags)
            start, end = self._placed(type_code, flags, size, log_pos)
            if type_code == types.ROTATE:
                self._rotate(body)
            yield BinlogEvent(type_code, flags, time_s, server_id, start, end, body)

    def scan(self, scanner: Scanner, group: Group) -> list[RawItem]:
        """Return the items that the scanner makes from the events that were already received.

        Call it between two events of `events`, which then continues after the scanned events.
        """
        if self._rotated or not group.plain:
            return []
        items, self.offset = self._packets.scan(
            scanner, group, self.offset, checksummed=self._checksummed
        )
        return items

    def _body(self, payload: memoryview, type_code: int, flags: int) -> memoryview:
        """Return the bytes between header and checksum."""
        if type_code == types.FORMAT_DESCRIPTION:
            return self._describe(payload)
        if type_code == types.START_V3:
            raise old_format(self.file, "begins with an event of MySQL 4 or earlier")
        if self._checksummed:
            self._verify(payload)
            return payload[_BODY_AT:-_CHECKSUM_BYTES]
        # What the server makes itself has a checksum when this connection asked for one, whatever
        # the file has.
        made = flags & types.ARTIFICIAL_FLAG or type_code in _HEARTBEATS
        return (
            payload[_BODY_AT:-_CHECKSUM_BYTES] if made and _sound(payload) else payload[_BODY_AT:]
        )

    def _verify(self, payload: memoryview) -> None:
        if not _sound(payload):
            raise self._unsound()

    def _describe(self, payload: memoryview) -> memoryview:
        """Read a file's first event, which says whether the others have checksums.

        Without them its own may be missing.
        """
        try:
            found = read_description(payload[_BODY_AT:])
        except struct.error as exc:
            raise self._corrupt(f"describes no binlog: {exc}") from exc
        if found.checksummed or (found.has_tail and not self._rotated):
            self._verify_description(payload)
        check_description(found, self.file)
        self._checksummed = found.checksummed
        self._rotated = False
        return payload[_BODY_AT : -_CHECKSUM_BYTES - 1] if found.has_tail else payload[_BODY_AT:]

    def _verify_description(self, payload: memoryview) -> None:
        if _sound(payload):
            return
        # The flag of a file in use is set after the checksum was made.
        without_flag = bytearray(payload)
        without_flag[_BODY_AT - 2] &= ~types.IN_USE_FLAG
        self._verify(memoryview(without_flag))

    def _placed(self, type_code: int, flags: int, size: int, log_pos: int) -> tuple[int, int]:
        """Start and end offset of the event; the reader moves to its end."""
        if type_code in _HEARTBEATS:
            self._packets.still_silent()
            self.offset = max(self.offset, self._widened(log_pos)) if log_pos else self.offset
            return self.offset, self.offset
        if flags & types.ARTIFICIAL_FLAG or (not log_pos and type_code in _PLACELESS):
            return self.offset, self.offset
        start = self.offset
        # MariaDB 11.4 and later write no position into events that lie between a transaction's
        # first and last one.
        end = self._widened(log_pos) if log_pos else start + size
        if end < size:
            raise self._corrupt(
                f"has {size} bytes and declares that it ends at byte {end} of the file"
            )
        self.offset = end
        return end - size, end

    def _widened(self, log_pos: int) -> int:
        """Return the full offset whose lower 32 bits are in the header."""
        if log_pos >= self.offset:
            return log_pos
        whole = self.offset - self.offset % _WRAP + log_pos
        return whole + _WRAP if whole + _WRAP // 2 < self.offset else whole

    def _rotate(self, body: memoryview) -> None:
        self._rotated = True
        try:
            (offset,) = struct.unpack_from("<Q", body)
            file = bytes(body[8:]).decode("utf-8")
        except (struct.error, UnicodeDecodeError) as exc:
            raise self._corrupt(f"names no next file: {exc}") from exc
        if offset > _LARGEST_OFFSET:
            raise self._corrupt(f"declares that the file continues at byte {offset}")
        self.file, self.offset = file, offset

    def _no_event(self, payload: memoryview) -> RelayError:
        if len(payload) and payload[0] != _OK:
            where = f"at {self.file}:{self.offset}" if self.file else "before its first event"
            return from_packet(
                payload, f"The source at {self._address} ended the binlog stream {where}"
            )
        return self._corrupt("is shorter than its header")

    def _unsound(self) -> CorruptEvent:
        return self._corrupt("does not match its checksum")

    def _corrupt(self, what: str) -> CorruptEvent:
        return CorruptEvent(f"The event at {self.file}:{self.offset} {what}.")


def _is_end(payload: memoryview) -> bool:
    """Return whether this is the EOF packet after the last event of the binlog."""
    return 0 < len(payload) < _LONGEST_END_BYTES and payload[0] == _END


def _sound(payload: memoryview) -> bool:
    """Return whether the last four bytes are the CRC32 of all before them."""
    return zlib.crc32(payload[1:]) == _SOUND

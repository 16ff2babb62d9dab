"""Frames: a length of 4 bytes, big-endian, before each packet."""

from typing import Final

from canal_server.errors import BadPacket

FRAME_HEADER: Final = 4
"""Size in bytes of the length before a packet."""


def framed(packet: bytes) -> bytes:
    """Return a packet with its length in front."""
    return len(packet).to_bytes(FRAME_HEADER, "big") + packet


def length_of(header: bytes, largest: int) -> int:
    """Return the size in bytes of the packet that follows a header of 4 bytes.

    Raises BadPacket if this size is negative or above `largest`.
    """
    size = int.from_bytes(header, "big", signed=True)
    if not 0 <= size <= largest:
        raise BadPacket(f"A frame announces {size} bytes; at most {largest} are accepted.")
    return size

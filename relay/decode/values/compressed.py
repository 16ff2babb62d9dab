"""Decodes MariaDB's COMPRESSED columns (types 140 and 141) into the bytes that the client stored.

The first byte describes the rest (MariaDB source: sql/field_comp.cc):

high half       the method, 0: not compressed, 8: zlib
bit 3           set for a raw deflate stream
low three bits  width of the big-endian original length, which follows this byte

A value without bytes is the empty text.
"""

import zlib
from typing import Final

from relay.decode.values.malformed import Malformed

_METHOD_STORED: Final = 0
_METHOD_ZLIB: Final = 8
_RAW_DEFLATE: Final = 0x08
_LENGTH_WIDTH: Final = 0x07


def uncompressed(stored: bytes) -> bytes:
    """Return the original bytes. Raises Malformed for an unknown method, and if the stored bytes
    are damaged or do not have the length that the header of the value announces.
    """
    if not stored:
        return b""
    method = stored[0] >> 4
    if method == _METHOD_STORED:
        return stored[1:]
    if method != _METHOD_ZLIB:
        raise Malformed(f"the compression method {method} is unknown")
    return _inflated(stored)


def _inflated(stored: bytes) -> bytes:
    start = 1 + (stored[0] & _LENGTH_WIDTH)
    length = int.from_bytes(stored[1:start], "big")
    stream = zlib.decompressobj(-zlib.MAX_WBITS if stored[0] & _RAW_DEFLATE else zlib.MAX_WBITS)
    try:
        # One byte more than announced is requested, to detect a longer stream. 0 would mean "no
        # limit".
        original = stream.decompress(stored[start:], length + 1)
    except (zlib.error, OverflowError) as exc:
        raise Malformed(f"the compressed bytes cannot be read: {exc}") from exc
    if len(original) != length or not stream.eof or stream.unused_data:
        raise Malformed(f"{length} bytes were announced, {len(original)} came out")
    return original

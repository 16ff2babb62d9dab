"""Row keys of HBase, made of the values of the primary key.

A key of one value is the UTF-8 text of that value. Several values are joined by the bytes 00 01. A
NUL inside a value is written as 00 FF, and a key of one empty value as 00 00, because HBase has no
empty row key. So the values can be read back, different keys have different row keys, and row keys
sort as the texts of their values: a shorter value before values that begin with it.
"""

from collections.abc import Sequence
from typing import Final
from zlib import crc32

from spark_jobs.errors import UnreadableRowKey

_NUL: Final = b"\x00"
_ESCAPED: Final = b"\x00\xff"
_BORDER: Final = b"\x00\x01"
_EMPTY: Final = b"\x00\x00"


def row_key(values: Sequence[str], salt_buckets: int = 0) -> bytes:
    """Return the row key for the values of a key; there must be at least one value.

    With `salt_buckets`, a first byte distributes neighbouring keys over the regions.
    """
    joined = _BORDER.join(value.encode().replace(_NUL, _ESCAPED) for value in values) or _EMPTY
    return bytes((crc32(joined) % salt_buckets,)) + joined if salt_buckets else joined


def key_values(row: bytes, salt_buckets: int = 0) -> list[str]:
    """Return the key values of a row key.

    Raises UnreadableRowKey for a key that `row_key` did not write.
    """
    joined = row[1:] if salt_buckets else row
    if joined == _EMPTY:
        return [""]
    try:
        values = [part.replace(_ESCAPED, _NUL).decode() for part in joined.split(_BORDER)]
    except UnicodeDecodeError as exc:
        raise UnreadableRowKey(f"The row key {row.hex(' ')} is not UTF-8 text.") from exc
    if row_key(values, salt_buckets) != row:
        raise UnreadableRowKey(
            f"The row key {row.hex(' ')} was not written by the jobs, or with another salt."
        )
    return values


def split_keys(salt_buckets: int) -> list[bytes]:
    """Return the row keys at which a new table is cut into regions, one region for each salt
    bucket.
    """
    return [bytes((bucket,)) for bucket in range(1, salt_buckets)]

"""Row keys: the values of the primary key, joined so that different keys differ and the text
order of the values is kept. A key of one value is that value, as the classic consumer writes it.
A NUL inside a value is written 00 FF, the separator between two values 00 01, the key of one
empty value 00 00 (HBase has no empty row key). So a shorter value sorts before values that begin
with it, a shorter key before a longer one, and the values can be read back.
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

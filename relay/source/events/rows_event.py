"""Reads row events: the number of their table, and the rows of MariaDB's compressed form."""

from typing import Final

from relay.model.event_types import (
    MARIADB_COMPRESSED_ROWS,
    MARIADB_COMPRESSED_ROWS_V1,
    UPDATE_ROWS,
    UPDATE_ROWS_V1,
    WRITE_ROWS,
    WRITE_ROWS_V1,
    Body,
)
from relay.source.events.query_event import decompressed

_V1_HEAD_BYTES: Final = 8
# Servers close a statement without rows with an event of no table: 24 bits of ones, or all 48.
_NO_TABLE: Final = frozenset({0xFFFFFF, 0xFFFFFFFFFFFF})


def table_number(body: Body) -> int:
    """Return the number of the table in a row event or a table map. The table map assigns the
    number to its table, and the row events after it use the number.
    """
    return int.from_bytes(body[:6], "little")


def closes_without_rows(number: int) -> bool:
    """Return whether the table number belongs to no table. A row event with such a number has no
    rows and only ends a statement.
    """
    return number in _NO_TABLE


def plain_rows(body: Body, type_code: int) -> tuple[bytes, int]:
    """Return (body, type code) of a compressed MariaDB row event after its conversion to the plain
    form.

    Raises zlib.error or IndexError if the event is damaged.
    """
    v2 = type_code in MARIADB_COMPRESSED_ROWS
    family = MARIADB_COMPRESSED_ROWS if v2 else MARIADB_COMPRESSED_ROWS_V1
    plain_type = type_code - family[0] + (WRITE_ROWS if v2 else WRITE_ROWS_V1)
    at = _V1_HEAD_BYTES + (int.from_bytes(body[8:10], "little") if v2 else 0)
    width, at = _column_count(body, at)
    bitmaps = 2 if plain_type in (UPDATE_ROWS, UPDATE_ROWS_V1) else 1
    at += bitmaps * ((width + 7) // 8)
    return bytes(body[:at]) + decompressed(body[at:]), plain_type


def _column_count(body: Body, at: int) -> tuple[int, int]:
    first = body[at]
    if first < 0xFB:
        return first, at + 1
    return int.from_bytes(body[at + 1 : at + 3], "little"), at + 3

"""The SQL type of a value. In Canal it depends on the value, in the relay's messages on the column.

Source: alibaba/canal, LogEventConvert, parseOneRow: an unsigned number above the largest signed one
gets the next larger type.
"""

from typing import Final

_TINYINT, _SMALLINT, _INTEGER, _BIGINT, _DECIMAL = -6, 5, 4, -5, 3
_BIT, _BLOB = -7, 2004
_UNSIGNED: Final = {
    "tinyint": (1 << 7, _TINYINT, _SMALLINT),
    "smallint": (1 << 15, _SMALLINT, _INTEGER),
    "mediumint": (1 << 23, _INTEGER, _INTEGER),
    "int": (1 << 31, _INTEGER, _BIGINT),
    "integer": (1 << 31, _INTEGER, _BIGINT),
    "bigint": (1 << 63, _BIGINT, _DECIMAL),
}
"""First word of an unsigned type to the first value with the larger type, and both types."""


def sql_type(of_event: int, mysql_type: str, text: str | None) -> int:
    """Return the number of `java.sql.Types` for a value.

    of_event    the column's number in the relay's message; 0 if the message has none
    mysql_type  type of the column
    text        the value; None: NULL
    """
    words = mysql_type.lower().replace("(", " (").split()
    first = words[0] if words else ""
    if first == "set" and of_event in (_BIT, _BLOB):
        return _BLOB if text is None else _BIT
    bound, small, large = _UNSIGNED.get(first, (0, 0, 0))
    if not bound or "unsigned" not in words or of_event not in (small, large):
        return of_event
    is_large = text is not None and text.isdigit() and int(text) >= bound
    return large if is_large else small

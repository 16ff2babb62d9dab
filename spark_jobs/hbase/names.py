"""The HBase names of logical tables.

HBase allows letters, digits, `_`, `-` and `.`, and neither `-` nor `.` first. `shop.orders` is
unchanged. Every other character is written as `-` and two hexadecimal digits for each of its UTF-8
bytes; `-` itself and further dots too, so that no two tables get the same name. A name that would
begin with `-` or `.` gets the prefix `_-`, which no other name has.
"""

from typing import Final

_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_GUARD: Final = "_-"


def hbase_name(table: str, namespace: str) -> str:
    """Return the full HBase name of the logical `database.table`."""
    database, _, name = table.partition(".")
    written = f"{_written(database)}.{_written(name)}"
    return f"{namespace}:{_GUARD if written[0] in '-.' else ''}{written}"


def _written(name: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"-{byte:02X}" for byte in name.encode())

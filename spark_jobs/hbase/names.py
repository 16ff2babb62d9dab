"""Logical tables as HBase names them: letters, digits, `_`, `-` and `.` only, and neither `-` nor
`.` first.

`shop.orders` stays as it is. Every other character is written as `-` and two hexadecimal digits for
each of its UTF-8 bytes; `-` itself and further dots too, so that no two tables meet. A name that
would begin with `-` or `.` gets `_-` before it, which begins no other name.
"""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_GUARD: Final = "_-"


def hbase_name(table: str, namespace: str) -> str:
    """Return the full HBase name of the logical `database.table`."""
    database, _, name = table.partition(".")
    written = f"{_written(database)}.{_written(name)}"
    return f"{namespace}:{_GUARD if written[0] in '-.' else ''}{written}"


def logical_name(name: str) -> str:
    """Return the logical table of a name that `hbase_name` gave."""
    written = name.partition(":")[2]
    if re.match(r"_-[-.]", written):
        written = written.removeprefix(_GUARD)
    return unquote_to_bytes(written.replace("-", "%")).decode()


def _written(name: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"-{byte:02X}" for byte in name.encode())

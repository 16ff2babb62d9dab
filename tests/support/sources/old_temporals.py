"""Columns in the temporal formats of MySQL 5.5, as a server of 5.6 has them in tables from before
an upgrade. 5.6 does not create such columns, but reads and logs them. Numbers of the same width are
declared, and their type is then changed in the table's .frm file (its fields are 17 bytes each;
mysql-server 5.6: table.cc, open_binary_frm).
"""

import struct
from pathlib import Path
from typing import Final

from deploy.embedded import MySQL56

_FORM_BYTES: Final = 288
_FIELD_BYTES: Final = 17
_TYPE_AT: Final = 13
# MEDIUMINT → TIME, BIGINT → DATETIME, INT → TIMESTAMP: 3, 8 and 4 bytes wide.
_TYPES: Final = {9: 11, 8: 12, 3: 7}


def create_old_table(server: MySQL56, database: str, table: str) -> None:
    """Make `table (id SMALLINT PRIMARY KEY, t TIME, d DATETIME, s TIMESTAMP NULL)` in the old
    formats.
    """
    server.execute(
        f"CREATE TABLE {database}.{table} (id SMALLINT PRIMARY KEY, t MEDIUMINT, d BIGINT, s "
        f"INT) ENGINE=MyISAM",
        "FLUSH TABLES",
    )
    _change_types(server.data / database / f"{table}.frm")
    server.execute("FLUSH TABLES")


def _change_types(file: Path) -> None:
    content = bytearray(file.read_bytes())
    (names_bytes,) = struct.unpack_from("<H", content, 4)
    (form,) = struct.unpack_from("<I", content, 64 + names_bytes)
    fields, screens_bytes = struct.unpack_from("<HH", content, form + 258)
    for number in range(fields):
        at = form + _FORM_BYTES + screens_bytes + number * _FIELD_BYTES + _TYPE_AT
        content[at] = _TYPES.get(content[at], content[at])
    file.write_bytes(content)

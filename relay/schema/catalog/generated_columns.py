"""Finds generated columns whose values a server omits from its binlog."""

import re
from typing import Final

GENERATED: Final = (
    "SELECT TABLE_SCHEMA AS d, TABLE_NAME AS t, COLUMN_NAME AS c FROM information_schema.COLUMNS "
    "WHERE IS_GENERATED = 'ALWAYS' AND GENERATION_EXPRESSION NOT IN ('ROW START', 'ROW END') "
    "ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"
)
"""A query for MariaDB only: MySQL has no IS_GENERATED, and logs these columns."""
_UNLOGGED_FROM: Final = (11, 8)


def generated_columns_are_logged(version: str) -> bool:
    """Return whether updates and deletes in the binlog have all generated columns if
    binlog_row_image is FULL.

    False for MariaDB 11.8 and later: 11.8.9 omits them, and 11.4.5 does not. `version` is the
    server's version text.
    """
    number = re.match(r"(\d+)\.(\d+)", version)
    if "mariadb" not in version.lower() or number is None:
        return True
    return (int(number[1]), int(number[2])) < _UNLOGGED_FROM

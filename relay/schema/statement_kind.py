"""The kinds of statements, in Canal's words."""

from enum import StrEnum


class StatementKind(StrEnum):
    """Canal's word for a statement.

    IGNORED stands for what is of no concern to a copy of the data and is not published.
    """

    CREATE = "CREATE"
    ALTER = "ALTER"
    ERASE = "ERASE"
    TRUNCATE = "TRUNCATE"
    RENAME = "RENAME"
    CREATE_INDEX = "CINDEX"
    DROP_INDEX = "DINDEX"
    QUERY = "QUERY"
    IGNORED = ""

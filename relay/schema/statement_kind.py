"""The kinds of statements, with Canal's names."""

from enum import StrEnum


class StatementKind(StrEnum):
    """Canal's name for the kind of a statement.

    Statements of the kind IGNORED have no effect on copies of the data, and are not published.
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

"""The bits of a session's sql_mode that change how the text of a logged statement is read."""

from enum import IntFlag


class SqlMode(IntFlag):
    """Numbers of mysql-server and MariaDB (`MODE_…` in sql_mode.h and sql_class.h), which both
    servers share.

    The combined modes (ANSI, ORACLE, …) also set the bits of their components. PIPES_AS_CONCAT and
    IGNORE_SPACE change what expressions mean, which the relay never reads.
    """

    REAL_AS_FLOAT = 1 << 0
    ANSI_QUOTES = 1 << 2
    POSTGRESQL = 1 << 8
    ORACLE = 1 << 9
    MSSQL = 1 << 10
    DB2 = 1 << 11
    MAXDB = 1 << 12
    ANSI = 1 << 18
    NO_BACKSLASH_ESCAPES = 1 << 20

    @classmethod
    def of_bits(cls, bits: int) -> "SqlMode":
        """Return the flags that are set in a session's whole sql_mode; all other bits are
        dropped.
        """
        return cls(bits & _READ)


NO_MODE = SqlMode(0)
"""A session whose sql_mode has no effect here, and statements without a recorded mode."""

_READ = sum(SqlMode)
WITHOUT_OPTIONS = (
    SqlMode.ANSI | SqlMode.POSTGRESQL | SqlMode.ORACLE | SqlMode.MSSQL | SqlMode.DB2 | SqlMode.MAXDB
)
"""Modes in which servers omit a table's options in statements that they write themselves."""

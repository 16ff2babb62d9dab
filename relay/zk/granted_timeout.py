"""Reads two facts from kazoo's log: the granted session timeout, and why a connection ended."""

import logging
from typing import Any, Final

_GRANTED: Final = "negotiated session timeout: %s"
_PLACE: Final = 2
"""Index of the granted timeout among the arguments of the log message: id, password, granted,
connect, read.
"""
_DROPPED: Final = ("Connection dropped: %s", "Connection time-out: %s", "Cannot resolve %s: %s")


class ListeningLogger(logging.LoggerAdapter[logging.Logger]):
    """Passes on all log records of kazoo, and stores two facts that only the log has.

    granted_ms  session timeout that the servers granted last, in milliseconds; 0 before the first
                session
    dropped     why the last connection ended or failed; "" before the first failure
    """

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__(logger, {})
        self.granted_ms = 0
        self.dropped = ""

    def log(self, level: int, msg: object, *args: object, **more: Any) -> None:
        """Log a line of kazoo, and read from it the granted session timeout, or why a connection
        ended.
        """
        if (
            isinstance(msg, str)
            and _GRANTED in msg
            and len(args) > _PLACE
            and isinstance(args[_PLACE], int)
        ):
            self.granted_ms = args[_PLACE]
        if msg in _DROPPED and args:
            self.dropped = str(args[-1]).removeprefix("socket connection error: ")
        super().log(level, msg, *args, **more)

"""How long a session may be silent: the client asks for it, the servers grant something else, and kazoo only logs what."""

import logging
from typing import Any, Final

_GRANTED: Final = "negotiated session timeout: %s"
_PLACE: Final = 2
"""Of the message's arguments: id, password, granted, connect, read."""


class ListeningLogger(logging.LoggerAdapter[logging.Logger]):
    """Passes everything on, and keeps the timeout that the last session was granted; 0 before the first."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__(logger, {})
        self.granted_ms = 0

    def log(self, level: int, msg: object, *args: object, **more: Any) -> None:
        """Log, and listen."""
        if isinstance(msg, str) and _GRANTED in msg and len(args) > _PLACE and isinstance(args[_PLACE], int):
            self.granted_ms = args[_PLACE]
        super().log(level, msg, *args, **more)

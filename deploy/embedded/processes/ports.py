"""Reserves loopback ports, so that parallel runs do not use the same one."""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path
from typing import IO, Final

from deploy.embedded.errors import Unavailable

HOST: Final = "127.0.0.1"
_FIRST: Final = 20_000
_LAST: Final = 32_000  # below the range from which the kernel takes ports of outgoing connections


class Port:
    """One port, reserved until `release()` or the end of this process, also while its server is
    down.
    """

    def __init__(self) -> None:
        self._lock: IO[str]
        for number in random.sample(range(_FIRST, _LAST), k=_LAST - _FIRST):
            if self._reserve(number):
                self.number = number
                return
        raise Unavailable(
            f"No free port on {HOST} between {_FIRST} and {_LAST}.", "End some servers."
        )

    def _reserve(self, number: int) -> bool:
        lock = (_folder() / str(number)).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((HOST, number))
        except OSError:
            lock.close()
            return False
        self._lock = lock
        return True

    def release(self) -> None:
        """Release the port for other processes."""
        self._lock.close()


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"roma-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder

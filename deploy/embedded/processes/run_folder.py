"""Folders of running servers, with short paths. The next run removes those of a crashed run."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from deploy.embedded.cache import locked

_PREFIX: Final = "roma-"
_ALIVE: Final = ".alive"


class RunFolder:
    """A fresh folder below the system's temporary one.

    `remove()` deletes the folder; after a crash of this process, the next run deletes it.
    """

    def __init__(self, name: str) -> None:
        with locked(
            Path(tempfile.gettempdir()) / f"{_PREFIX}folders-{os.getuid()}.lock"
        ):  # no other process sweeps between the next three lines
            sweep()
            self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-"))
            self._alive = (self.path / _ALIVE).open("w")
            fcntl.flock(self._alive, fcntl.LOCK_EX)

    def remove(self) -> None:
        """Delete the folder and release the lock that marks it as used."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._alive.close()


def sweep() -> None:
    """Remove the folders whose owner ended without removing them."""
    for alive in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_ALIVE}"):
        try:
            if alive.stat().st_uid == os.getuid():
                _remove_if_abandoned(alive)
        except OSError:
            continue  # still locked, or already removed by its owner


def _remove_if_abandoned(alive: Path) -> None:
    with alive.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(alive.parent, ignore_errors=True)

"""One process at a time has a spool's folder."""

import fcntl
from pathlib import Path
from typing import BinaryIO

from relay.errors import SpoolUnusable
from relay.spool.disk import disk_errors


class FolderLock:
    """A lock on the spool's folder, held from `take` to `free` or to the end of the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None

    def take(self) -> None:
        """Make the folder and lock it. Raises SpoolUnusable when another process has it."""
        with disk_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            file = (self._folder / "lock").open("wb")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as exc:
                file.close()
                raise SpoolUnusable(f"Another process uses the spool in {self._folder}.") from exc
        self._file = file

    def free(self) -> None:
        """Release the lock; do nothing if it is not held."""
        if self._file is not None:
            self._file.close()
            self._file = None

"""Stores the position of embedded changes: in a file, or by functions of the program."""

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from relay.errors import ConfigurationError


class PositionStore(Protocol):
    """Stores one value of bytes: `load` returns the value of the last `save`."""

    def load(self) -> bytes | None:
        """Return the last saved position; None if no position was saved."""

    def save(self, position: bytes, /) -> object:
        """Replace the position; it is durable when this returns."""

    def close(self) -> None:
        """Release the lock or connection of the store."""


@dataclass(frozen=True)
class PositionCallbacks:
    """A position store that calls two functions of the embedding program.

    load  returns the saved position; None if no position was saved
    save  stores a position

    An error of a function ends the iteration over the changes.
    """

    load: Callable[[], bytes | None]
    save: Callable[[bytes], object]

    def close(self) -> None:
        """Do nothing: there is no file and no lock."""


class PositionFile:
    """A position in a file, which is replaced as a whole.

    Only one program can use it: `load` locks the file `<name>.lock` next to it until `close`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: IO[bytes] | None = None

    def load(self) -> bytes | None:
        """Lock the file and return its contents; None if the file does not exist.

        Raises ConfigurationError if another program has locked it, or if it cannot be read.
        """
        try:
            self._take()
            return self._path.read_bytes()
        except FileNotFoundError as exc:
            if self._lock is None:
                raise self._refused("be locked", exc) from exc
            return None
        except OSError as exc:
            raise self._refused("be read", exc) from exc

    def save(self, position: bytes) -> None:
        """Replace the contents durably. Raises ConfigurationError if the file cannot be written."""
        new = self._path.with_name(f"{self._path.name}.new")
        try:
            with new.open("wb") as file:
                file.write(position)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
            _sync_folder(self._path.parent)
        except OSError as exc:
            raise self._refused("be written", exc) from exc

    def close(self) -> None:
        """Release the lock on the file."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _take(self) -> None:
        if self._lock is not None:
            return
        lock = self._path.with_name(f"{self._path.name}.lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            lock.close()
            raise ConfigurationError(
                f"Another program uses the position file {self._path}.",
                remedy="End that program, or give this one a position file of its own.",
            ) from exc
        self._lock = lock

    def _refused(self, what: str, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            f"The position file {self._path} cannot {what}: {error.strerror}.",
            remedy=(
                "Give the program a folder that it may write to, with free space; it continues "
                "from the last saved position."
            ),
        )


def _sync_folder(folder: Path) -> None:
    """Make the new name of a file durable."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)

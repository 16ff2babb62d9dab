"""Ensures that one process at a time owns the files of a spool."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from time import monotonic, sleep, time_ns
from typing import BinaryIO, Final

import structlog

from relay.errors import SpoolUnusable
from relay.spool.disk import disk_errors
from relay.spool.segment import segment_paths

_LOCK: Final = "lock"
_OWNED: Final = "owned-"
"""Prefix of the owner's folder. Each new owner renames the folder."""
_GATHERED: Final = "gathered"
"""The folder into which files of an earlier release of the relay are moved, before a new owner
renames it.
"""
_RENAME_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.02

_NOT_LEADING: Final = "ZooKeeper does not confirm that this relay still leads."

_numbers: Final = count(1)
_log = structlog.stdlib.get_logger(__name__)


class OwnedFolder:
    """The files of an instance's spool. The process owns them from `take` until `free`, its own
    end, or the moment when another leader takes them.

    They are in a folder inside `folder` whose name no other owner uses. A process that was paused
    while another one became leader finds no file under its old name. So it can neither delete nor
    replace the files of the new owner.
    """

    def __init__(self, folder: Path, leads: Callable[[], bool]) -> None:
        """`leads` returns whether ZooKeeper confirms that this process is still the leader."""
        self._folder = folder
        self._leads = leads
        self._file: BinaryIO | None = None

    def take(self) -> Path:
        """Return the owned folder with the files that the last owner left.

        Raises SpoolUnusable if the disk fails, another process holds the lock of the folder, or
        ZooKeeper does not confirm the leadership.

        It also takes the files of a process that still runs. First it checks in ZooKeeper that the
        caller is the leader, because the caller may have been paused since its election.
        """
        self.free()
        with disk_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._locked():
                if not self._leads():
                    raise SpoolUnusable(f"{_NOT_LEADING} The spool in {self._folder} stays closed.")
                owned = self._folder / f"{_OWNED}{os.getpid()}-{next(_numbers)}-{time_ns()}"
                self._claim(owned)
                self._file = _marked(owned)
        return owned

    def free(self) -> None:
        """End the ownership of the files; do nothing if this process does not own them."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Exclude other processes that take the files. An earlier release of the relay holds this
        lock as long as it leads.
        """
        with (self._folder / _LOCK).open("wb") as file:
            end_s = monotonic() + _RENAME_SECONDS
            while not _is_locked_by_us(file):
                if monotonic() >= end_s:
                    raise SpoolUnusable(f"Another process uses the spool in {self._folder}.")
                sleep(_POLL_SECONDS)
            yield

    def _claim(self, owned: Path) -> None:
        """Move the last owner's files into the folder `owned`."""
        former = sorted(self._folder.glob(f"{_OWNED}*"), key=lambda each: each.stat().st_mtime_ns)
        if (gathered := self._gathered()) is not None:
            former.append(gathered)
        if former:
            former[-1].rename(owned)
            for each in former[:-1]:
                shutil.rmtree(each, ignore_errors=True)
        owned.mkdir(exist_ok=True)
        if _has_live_owner(owned):
            _separate_last(owned)
            _log.warning(
                "spool_taken",
                folder=str(self._folder),
                reason="its last owner still runs: it is paused or slow",
            )

    def _gathered(self) -> Path | None:
        """Return the folder with the files that an earlier release of the relay wrote; None if
        there are none.

        That release reads no owner's folder. So what it wrote after a downgrade is newer than the
        owners' folders. The newest file is moved first: if the move is interrupted, the files that
        were not moved are consecutive, and the next call uses only those.
        """
        gathered = self._folder / _GATHERED
        if paths := segment_paths(self._folder):
            if gathered.exists():
                shutil.rmtree(gathered)
            gathered.mkdir()
            for path in reversed(paths):
                path.rename(gathered / path.name)
        return gathered if gathered.exists() else None


def _marked(owned: Path) -> BinaryIO:
    """Return the open file whose lock shows that the owner's process runs. It replaces the last
    owner's file.
    """
    with ExitStack() as stack:
        made = owned / f"{_LOCK}.new"
        file = stack.enter_context(made.open("wb"))
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        made.replace(owned / _LOCK)
        stack.pop_all()
    return file


def _has_live_owner(owned: Path) -> bool:
    try:
        with (owned / _LOCK).open("rb") as file:
            return not _is_locked_by_us(file)
    except FileNotFoundError:
        return False


def _separate_last(owned: Path) -> None:
    """Replace the last file by a copy: the last owner has it open, and may write to it later."""
    for path in segment_paths(owned)[-1:]:
        copy = path.with_suffix(".copy")
        shutil.copyfile(path, copy)
        copy.replace(path)


def _is_locked_by_us(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

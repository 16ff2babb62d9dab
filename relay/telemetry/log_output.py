"""Writes the log to standard error without blocking when nobody reads it."""

import logging
import os
import select
import socket
import stat
from contextlib import suppress
from time import monotonic
from typing import Final, TextIO

import structlog

from relay.telemetry.metrics import LOG_LINES_LOST

_WAIT_SECONDS: Final = 1.0
"""How long the relay waits for a reader of a full pipe before it drops a line."""
_IMPATIENT_SECONDS: Final = 30.0
"""For this many seconds after a dropped line, further lines are dropped without waiting."""

_log = structlog.stdlib.get_logger(__name__)


class LogHandler(logging.StreamHandler["LogOutput | TextIO"]):
    """Writes records to a stream. A pipe, socket or terminal that is full does not block it."""

    def __init__(self, stream: TextIO) -> None:
        self._output = LogOutput(stream) if _may_block(stream) else None
        super().__init__(self._output or stream)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record. If records were dropped before it, also write their number."""
        super().emit(record)
        if self._output is not None and (lines := self._output.take_lost()):
            _log.warning("log_lines_lost", lines=lines, reason="no process read the log in time")

    def give_up(self) -> None:
        """Close what the handler has opened, because another handler replaces it. The stream stays
        open.

        `close` does nothing: `logging.shutdown` calls it, and records may follow.
        """
        self.acquire()
        try:
            if self._output is not None:
                self._output.close()
        finally:
            self.release()


class LogOutput:
    """Writes texts to the file of a stream. Drops and counts texts that no process reads in time.

    If a part of a text was written, the rest is written before the next text. Used by one thread at
    a time.
    """

    def __init__(self, stream: TextIO) -> None:
        self._encoding = stream.encoding
        self._target = _target(stream.fileno())
        self._rest = b""
        self._lost = 0
        self._is_written = True
        self._patient_from_s = 0.0

    def write(self, text: str) -> int:
        """Write a text completely, or drop it. Return its length."""
        data = text.encode(self._encoding, errors="backslashreplace")
        now_s = monotonic()
        end_s = now_s + _WAIT_SECONDS if now_s >= self._patient_from_s else now_s
        self._rest = self._unwritten(self._rest, end_s)
        left = data if self._rest else self._unwritten(data, end_s)
        self._is_written = not left
        if left == data:
            self._lost += 1
            LOG_LINES_LOST.inc()
        else:
            self._rest = left
        if left:
            self._patient_from_s = monotonic() + _IMPATIENT_SECONDS
        return len(text)

    def flush(self) -> None:
        """Do nothing: `write` keeps no text that it can write."""

    def take_lost(self) -> int:
        """Return how many texts were dropped since the last call that returned a number above 0; 0
        if the last text was not written completely.
        """
        if not self._is_written:
            return 0
        lost, self._lost = self._lost, 0
        return lost

    def close(self) -> None:
        """Close what was opened here. Later texts are dropped."""
        self._target.close()

    def _unwritten(self, data: bytes, end_s: float) -> bytes:
        """Write until the monotonic time `end_s` or an OSError; return the bytes that were not
        written.
        """
        while data and self._target.is_writable(max(0.0, end_s - monotonic())):
            try:
                data = data[self._target.write(data) :]
            except BlockingIOError:
                continue  # another process filled the pipe after the poll
            except OSError:
                break
        return data


class _Target:
    """A file that can be polled. Writes fit into a pipe that is writable."""

    def __init__(self, file: int, *, owned: bool = False) -> None:
        self._file = file
        self._owned = owned
        self._poll = select.poll()
        self._poll.register(file, select.POLLOUT)

    def is_writable(self, seconds: float) -> bool:
        """Return whether a write would not block, after this time at the latest."""
        return any(event & select.POLLOUT for _, event in self._poll.poll(seconds * 1000))

    def write(self, data: bytes) -> int:
        """Return how many bytes were written. Raises OSError."""
        return os.write(self._file, data[: select.PIPE_BUF])

    def close(self) -> None:
        """Close the file if it was opened for this object. It is not writable any more, because
        another file may get its number.
        """
        with suppress(KeyError):
            self._poll.unregister(self._file)
            if self._owned:
                os.close(self._file)


class _SocketTarget(_Target):
    """A socket: journald gives one to its services."""

    def write(self, data: bytes) -> int:
        with socket.socket(fileno=os.dup(self._file)) as connection:
            return connection.send(data, socket.MSG_DONTWAIT)


def _target(file: int) -> _Target:
    """Return a target whose writes do not block.

    A pipe or terminal is opened a second time, because other processes share the flags of the file.
    If that is not permitted, a write may block when another process fills the pipe after the poll.
    """
    mode = os.fstat(file).st_mode
    if stat.S_ISSOCK(mode):
        return _SocketTarget(file)
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    with suppress(OSError):
        return _Target(os.open(f"/proc/self/fd/{file}", flags), owned=True)
    return _Target(file)


def _may_block(stream: TextIO) -> bool:
    """Return whether a stream has a file that another process must read."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISCHR(mode)

"""Turns the errors of the file system into the relay's error."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from relay.errors import SpoolUnusable


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Raise SpoolUnusable for an OSError in the block."""
    try:
        yield
    except OSError as exc:
        raise SpoolUnusable(
            f"The spool in {folder} cannot be used: {exc.strerror or exc}."
        ) from exc


def write_whole(file: BinaryIO, content: bytes) -> None:
    """Write to an unbuffered file, to the last byte. Raises OSError."""
    written = file.write(content)
    if written != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

"""Writes files with the data that reproduces a bug of the relay, for its developers."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISDIR, S_IWGRP, S_IWOTH
from typing import Any, Final

from relay.errors import PrinterFailed
from relay.settings import BugReportSettings

_PREFIX: Final = "printer-"
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_NAME_DIGITS: Final = 12


def with_report(error: PrinterFailed, settings: BugReportSettings, instance: str) -> PrinterFailed:
    """Write the evidence of a printer's bug to a file that only the relay's user can read.

    error     the error, with the evidence
    settings  where such files are written, and how many
    instance  name of the instance

    Returns the error with the file's path in its reason. If no file was written, the reason says
    why: the folder cannot be written, is full, or the values are masked.
    """
    if not error.evidence:
        return PrinterFailed(
            f"{error.reason} The event was not stored, because values of the table are masked.", {}
        )
    try:
        kept = f"{_written(error.evidence, settings, instance)} contains the event."
    except OSError as exc:
        kept = f"The event could not be stored: {exc.strerror or exc}."
    return PrinterFailed(f"{error.reason} {kept}", error.evidence)


def _written(evidence: Mapping[str, Any], settings: BugReportSettings, instance: str) -> Path:
    """Return the report's path.

    The same events have the same file, so that retries do not fill the folder.
    """
    folder = settings.folder or _default_folder()
    folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    _check_owner(folder)
    text = json.dumps({"instance": instance, **evidence}, ensure_ascii=True, indent=1).encode()
    if len(text) > settings.limit_bytes:
        raise OSError(
            f"it has {len(text)} bytes, and bug_reports.limit_bytes is {settings.limit_bytes}"
        )
    digest = hashlib.sha256(json.dumps(evidence["events"]).encode()).hexdigest()[:_NAME_DIGITS]
    path = folder / f"{_PREFIX}{instance}-{digest}.json"
    if path.exists():
        return path
    if len(list(folder.glob(f"{_PREFIX}*.json"))) >= settings.limit_files:
        raise OSError(
            f"{folder} contains bug_reports.limit_files = {settings.limit_files} reports already"
        )
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE), "wb") as file:
        file.write(text)
    return path


def _default_folder() -> Path:
    """Return a folder in the state folder that systemd gives the service, else one of this user in
    the temporary folder.
    """
    state = os.environ.get("STATE_DIRECTORY")
    return (
        Path(state) / "bug-reports"
        if state
        else Path(tempfile.gettempdir()) / f"roma-bug-reports-{os.geteuid()}"
    )


def _check_owner(folder: Path) -> None:
    """Refuse a folder that another user made or can write to: the default folder is below one that
    all users share.
    """
    found = folder.lstat()
    if (
        not S_ISDIR(found.st_mode)
        or found.st_uid != os.geteuid()
        or found.st_mode & (S_IWGRP | S_IWOTH)
    ):
        raise OSError(f"{folder} belongs to another user, or other users can write to it")

"""One node of a backup as a file that people can read and that gives back every byte."""

import json
from base64 import b64decode, b64encode
from typing import Any, Final

from relay.errors import BackupRefused
from relay.state.json_object import write_json

FORMAT: Final = 1


def to_file(path: str, value: bytes) -> str:
    """Return a node as fields of the backup file: `json` if that gives the same bytes again, else
    `lines` of text, else `base64`.
    """
    return (
        json.dumps(
            {"format": FORMAT, "path": path, **_written(value)}, ensure_ascii=False, indent=2
        )
        + "\n"
    )


def from_file(text: str, file: str) -> tuple[str, bytes]:
    """Read path and value.

    Raises BackupRefused for a newer format and for any other invalid file.
    """
    try:
        fields: dict[str, Any] = json.loads(text)
        if fields["format"] > FORMAT:
            raise newer(file, fields["format"])
        return _checked(fields["path"], file), _read(fields)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise BackupRefused(f"{file} is not a file of a backup ({exc!r}).") from exc


def newer(file: str, found: int) -> BackupRefused:
    """Return the error for a backup of a later version."""
    return BackupRefused(
        f"{file} has format {found}, this version reads formats 1 to {FORMAT}.",
        remedy="Use the version that made the backup.",
    )


def _written(value: bytes) -> dict[str, object]:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return {"lines": text.split("\n")}
    return (
        {"json": parsed}
        if isinstance(parsed, dict) and write_json(parsed) == value
        else {"lines": text.split("\n")}
    )


def _read(fields: dict[str, Any]) -> bytes:
    if "json" in fields:
        return write_json(fields["json"])
    if "lines" in fields:
        return "\n".join(fields["lines"]).encode()
    return b64decode(fields["base64"], validate=True)


def _checked(path: str, file: str) -> str:
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        raise BackupRefused(f"{file} names the node {path!r}, which is not below an installation.")
    return path

"""The file format of one node in a backup: people can read the file, and every byte of the value
can be restored.
"""

import json
from base64 import b64decode, b64encode
from typing import Any, Final

from relay.errors import BackupRefused
from relay.state.json_object import write_json

FORMAT: Final = 1


def to_file(path: str, value: bytes) -> str:
    """Return the text of the backup file for the node at `path`: a JSON object with format, path
    and value.

    The value is in the field `json` if writing that object gives the same bytes, in `lines` for
    other text, and in `base64` for other bytes.
    """
    return (
        json.dumps(
            {"format": FORMAT, "path": path, **_written(value)}, ensure_ascii=False, indent=2
        )
        + "\n"
    )


def from_file(text: str, file: str) -> tuple[str, bytes]:
    """Return (node path, value) from the text of a backup file. `file` is its name for errors.

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
    """Return the error for a backup file of a later version. `found` is its format."""
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

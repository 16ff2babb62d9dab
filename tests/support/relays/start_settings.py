"""Changing where an instance starts, as an operator edits the file."""

import tomllib
from pathlib import Path

import tomli_w


def start_at(file: Path, **start: object) -> None:
    """Write `[instances.start]` of the file's first instance anew."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    document["instances"][0]["start"] = start
    file.write_text(tomli_w.dumps(document), encoding="utf-8")

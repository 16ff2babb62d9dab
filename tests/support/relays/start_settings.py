"""Changes the start position in the settings file, as operators do."""

import tomllib
from pathlib import Path

import tomli_w


def start_at(file: Path, **start: object) -> None:
    """Replace `[instances.start]` of the first instance in the file."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    document["instances"][0]["start"] = start
    file.write_text(tomli_w.dumps(document), encoding="utf-8")

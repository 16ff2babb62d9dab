"""Archives, unpacked by tar."""

import subprocess
from pathlib import Path

from deploy.embedded.errors import EmbeddedError


def unpack(archive: Path, folder: Path, *options: str) -> None:
    """Unpack a compressed archive by tar. Raises EmbeddedError.

    options  further arguments of tar: its options, and the members to unpack; empty: all members
    """
    command: list[str | Path] = ["tar", "-xzf", archive, "-C", folder, *options]
    unpacked = subprocess.run(command, capture_output=True, text=True, check=False)
    if unpacked.returncode != 0:
        raise EmbeddedError(f"{archive} could not be unpacked: {unpacked.stderr.strip()}")

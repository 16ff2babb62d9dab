"""The relay of an earlier commit of this repository, as a real process without compiled modules."""

import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

FIRST_LANDED: Final = "4450d02"
"""The first version that was published; it reads position records up to format 4."""
BEFORE_FORMATS: Final = "73620cb"
"""The last published version before message formats; it reads position records up to format 5."""
BEFORE_NAMED_SETS: Final = "fcbe3fe2"
"""The last version whose table copies have keys in UTF-8 alone; it reads position records up to
format 9.
"""
_ROOT: Final = Path(__file__).parents[3]


@cache
def former_version(commit: str = FIRST_LANDED) -> Path:
    """Return a folder that holds the relay's package as of a commit.

    Fails in a clone without the history.
    """
    folder = Path(mkdtemp(prefix=f"roma-{commit}-"))
    archive = subprocess.run(
        ["git", "archive", commit, "relay"], cwd=_ROOT, capture_output=True, check=False
    )
    assert archive.returncode == 0, (
        f"{archive.stderr.decode()} (a shallow clone? `git fetch --unshallow`)"
    )
    subprocess.run(
        ["tar", "--extract", "--directory", folder], input=archive.stdout, check=True
    )  # Debian's Python 3.11.2 has no safe way
    return folder

"""One pinned package of the npm registry, downloaded by npm itself: npm uses its proxy and registry
settings, and runs no scripts of the package.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.errors import FetchFailed
from deploy.embedded.fetching.artifacts import Artifact, pinned, verify
from deploy.embedded.fetching.debian import install_package
from deploy.embedded.fetching.progress import say

LOCK: Final = Path(__file__).with_name("npm.lock")
_TAIL_CHARACTERS: Final = 2000


def package(wanted: str) -> Path:
    """Return the archive of the set's one package, fetched and verified when missing.

    Raises Unavailable or ChecksumMismatch.
    """
    (artifact,) = pinned(wanted, LOCK)

    def build(folder: Path) -> None:
        say(f"{wanted}: fetching {artifact.file}")
        _pack(artifact, folder)
        verify(artifact, folder / artifact.file)

    return (
        install(
            cache_folder() / "npm" / f"{artifact.name}-{artifact.version}-{artifact.sha256[:12]}",
            build,
        )
        / artifact.file
    )


def _pack(artifact: Artifact, folder: Path) -> None:
    if shutil.which("npm") is None:
        install_package("npm")
    command = [
        "npm",
        "pack",
        f"{artifact.name}@{artifact.version}",
        "--ignore-scripts",
        f"--cache={folder / 'cache'}",
    ]
    environment = os.environ | {"NO_UPDATE_NOTIFIER": "1"}
    ran = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(folder / "cache", ignore_errors=True)  # the archive is all that is kept
    if ran.returncode != 0 or not (folder / artifact.file).exists():
        said = (ran.stdout + ran.stderr)[-_TAIL_CHARACTERS:]
        raise FetchFailed(
            f"{artifact} could not be fetched. npm said:\n{said}\n",
            "Check the network, then run `make fetch` again.",
        )

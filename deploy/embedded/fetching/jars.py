"""Folders of pinned jars, fetched once."""

from pathlib import Path

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.errors import ChecksumMismatch
from deploy.embedded.fetching.artifacts import Artifact, fingerprint, pinned, verify
from deploy.embedded.fetching.ivy import forget, retrieve
from deploy.embedded.fetching.progress import say


def jars(wanted: str) -> Path:
    """Return the folder that holds one set of the lock file and nothing else.

    Fetched and verified when missing.
    """
    artifacts = pinned(wanted)
    target = cache_folder() / "jars" / f"{wanted}-{fingerprint(artifacts)}"

    def build(folder: Path) -> None:
        say(f"{wanted}: fetching {len(artifacts)} jars")
        retrieve(artifacts, folder)
        for artifact in artifacts:
            _verified(artifact, folder / artifact.file)
        for artifact in artifacts:
            forget(artifact)  # one copy is enough

    return install(target, build)


def _verified(artifact: Artifact, file: Path) -> None:
    try:
        verify(artifact, file)
    except ChecksumMismatch:
        forget(artifact)
        raise

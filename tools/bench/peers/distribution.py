"""Debezium Server, pinned like the servers' files; only the benchmark downloads it."""

import subprocess
from pathlib import Path
from typing import Final

from deploy.embedded import EmbeddedError
from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.artifacts import Artifact, fingerprint, pinned, verify
from deploy.embedded.fetching.ivy import forget, retrieve
from deploy.embedded.fetching.progress import say

LOCK: Final = Path(__file__).with_name("artifacts.lock")
_ROOT: Final = "debezium-server"
_WANTED: Final = (
    f"{_ROOT}/debezium-server-dist-*-runner.jar",
    f"{_ROOT}/lib",
)  # without Cassandra's connectors


def debezium_artifact() -> Artifact:
    """Return the pinned distribution."""
    (artifact,) = pinned("debezium", LOCK)
    return artifact


def debezium_server() -> Path:
    """Return the folder with the runner's jar and `lib`.

    Fetched (780 MB), verified and unpacked when missing. Raises EmbeddedError.
    """
    artifact = debezium_artifact()

    def build(folder: Path) -> None:
        say(f"fetching Debezium Server {artifact.version}, 780 MB, once")
        retrieve([artifact], folder)
        archive = folder / artifact.file
        try:
            verify(artifact, archive)
        finally:
            forget(artifact)
        _unpack(archive, folder)
        archive.unlink()

    return install(cache_folder() / "bench" / f"debezium-{fingerprint([artifact])}", build) / _ROOT


def _unpack(archive: Path, folder: Path) -> None:
    command = ["tar", "-xzf", str(archive), "-C", str(folder), "--wildcards", *_WANTED]
    unpacked = subprocess.run(command, capture_output=True, text=True, check=False)
    if unpacked.returncode != 0:
        raise EmbeddedError(f"{archive} could not be unpacked: {unpacked.stderr.strip()}")

"""The pinned Maven artifacts of `artifacts.lock`, and the check of a file against its pin."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.embedded.errors import ChecksumMismatch

LOCK: Final = Path(__file__).with_name("artifacts.lock")


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file, a jar unless its extension says otherwise: its Maven coordinates and the SHA-256
    that it must have.

    `classifier` is Maven's, which distinguishes files with the same coordinates; "" without one.
    """

    organisation: str
    name: str
    version: str
    sha256: str
    extension: str = "jar"
    classifier: str = ""

    @property
    def file(self) -> str:
        """Return the file name in Maven's layout: `name-version[-classifier].extension`."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.name}-{self.version}{classifier}.{self.extension}"

    def __str__(self) -> str:
        return f"{self.organisation}:{self.name}:{self.version}"


def pinned(wanted: str, lock: Path = LOCK) -> tuple[Artifact, ...]:
    """Return the artifacts of the set `wanted` of a lock file.

    A line of the file is `set organisation:name:version[:extension[:classifier]] sha256`.
    """
    found: list[Artifact] = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        of_set, coordinates, sha256 = line.split()
        if of_set == wanted:
            organisation, name, version, *extension = coordinates.split(":")
            found.append(Artifact(organisation, name, version, sha256, *extension))
    return tuple(found)


def fingerprint(artifacts: Sequence[Artifact]) -> str:
    """Return a short name that changes with any pin, so that a folder of that name always contains
    this set.
    """
    return hashlib.sha256(
        "\n".join(f"{one} {one.sha256}" for one in artifacts).encode()
    ).hexdigest()[:12]


def verify(artifact: Artifact, file: Path) -> None:
    """Compare a fetched file with its pin. Raises ChecksumMismatch, naming both sums."""
    with file.open("rb") as content:
        actual = hashlib.file_digest(content, "sha256").hexdigest()
    if actual != artifact.sha256:
        raise ChecksumMismatch(
            f"{artifact} has SHA-256 {actual}, pinned is {artifact.sha256}. It was not put into "
            f"use; fetch again."
        )

"""Packages of another Debian release than this machine's, by an apt with separate lists and
archives; root is not needed.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from deploy.embedded.cache import cache_folder, locked
from deploy.embedded.errors import FetchFailed, Unavailable
from deploy.embedded.fetching.artifacts import Artifact, verify
from deploy.embedded.fetching.debian import debian_mirror
from deploy.embedded.fetching.progress import say

_KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_TAIL_CHARACTERS: Final = 2000
_NEWEST: Final = "newest"
"""Instead of a SHA-256: of a series (`11.8.*`) the newest version that the suites list is taken."""


def unpack_with_needs(artifact: Artifact, suites: Sequence[str], folder: Path) -> str:
    """Unpack one package and what it needs below `folder`, and return its version: the pinned one,
    or the newest of the pinned series.

    `artifact` has the package's name and version, its organisation is the Debian release. `suites`
    are lines of sources without kind and mirror (`debian trixie main`); the mirror is this
    machine's. apt checks every file against its suite's signature. Raises Unavailable or
    ChecksumMismatch.
    """
    mirror = debian_mirror()
    if mirror is None or not _KEYRING.exists():
        raise Unavailable(
            "No Debian mirror is in the package sources.", "Run it on Debian 11 or later."
        )
    work = cache_folder() / "apt" / artifact.organisation
    with locked(work / ".lock"):
        _prepare(work, [f"deb [signed-by={_KEYRING}] {mirror}/{suite}\n" for suite in suites])
        _apt(work, "apt-get", "update")
        version = _version(work, artifact)
        say(
            f"{artifact.name} {version}: fetching it and what it needs from Debian "
            f"{artifact.organisation}"
        )
        _apt(work, "apt-get", "install", "--yes", "--download-only", f"{artifact.name}={version}")
        packages = sorted((work / "cache" / "archives").glob("*.deb"))
        (own,) = (package for package in packages if package.name.startswith(f"{artifact.name}_"))
        if artifact.sha256 != _NEWEST:
            verify(artifact, own)
        for package in packages:
            _unpack(package, folder)
    shutil.rmtree(work, ignore_errors=True)  # only the unpacked files are needed
    return version


def _prepare(work: Path, sources: Sequence[str]) -> None:
    """Make apt's folders below `work`, without what a failed run may have left."""
    shutil.rmtree(work / "cache", ignore_errors=True)
    for made in ("state/lists/partial", "cache/archives/partial"):
        (work / made).mkdir(parents=True, exist_ok=True)
    (work / "status").touch()
    (work / "sources.list").write_text("".join(sources), encoding="utf-8")


def _unpack(package: Path, folder: Path) -> None:
    unpacked = subprocess.run(
        ["dpkg-deb", "--extract", package, folder], capture_output=True, text=True, check=False
    )
    if unpacked.returncode != 0:
        raise FetchFailed(
            f"{package.name} could not be unpacked: {unpacked.stderr.strip()}.",
            "Check that the disk is not full.",
        )


def release_number(version: str) -> str:
    """Return the release of a Debian version: 11.8.9 of `1:11.8.9+ds-0+deb13u1`."""
    upstream = version.partition(":")[2] or version
    return re.split(r"[^0-9.]", upstream, maxsplit=1)[0]


def newest_of(series: str, versions: Iterable[str]) -> str | None:
    """Return the newest Debian version of a series (`11.8.*`); None where there is none.

    `versions` are as apt lists them, the newest first. Of two packages of one release, the first in
    this order is returned.
    """
    release = re.compile(rf"(?:\d+:)?{re.escape(series.removesuffix('*'))}(\d+)(?!\d)")
    found = [(int(match[1]), version) for version in versions if (match := release.match(version))]
    return max(found, key=lambda one: one[0])[1] if found else None


def _version(work: Path, artifact: Artifact) -> str:
    """Return the pinned version, or the newest of the pinned series.

    Raises Unavailable where the suites list none of it.
    """
    if artifact.sha256 != _NEWEST:
        return unquote(
            artifact.version
        )  # the colon of a version cannot be written in a line of the lock file
    lines = _apt(work, "apt-cache", "madison", artifact.name).splitlines()
    listed = [line.split("|")[1].strip() for line in lines if line.count("|") > 1]
    version = newest_of(artifact.version, listed)
    if version is None:
        raise Unavailable(
            f"Debian {artifact.organisation} lists {artifact.name} "
            f"{', '.join(listed) or 'in no version'}, not {artifact.version}.",
            "Choose another series in deploy/embedded/fetching/debian.lock.",
        )
    return version


def _options(work: Path) -> Iterator[str]:
    """Yield the options that keep apt's state below `work`."""
    settings = {
        "Dir::State": work / "state",
        "Dir::State::status": work / "status",
        "Dir::Cache": work / "cache",
        "Dir::Etc::sourcelist": work / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "APT::Architecture": "amd64",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
    }
    for name, value in settings.items():
        yield from ("-o", f"{name}={value}")


def _apt(work: Path, program: str, *arguments: str) -> str:
    command = [program, "--quiet", *_options(work), *arguments]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if ran.returncode != 0:
        said = (ran.stdout + ran.stderr)[-_TAIL_CHARACTERS:]
        raise FetchFailed(
            f"`{program} {' '.join(arguments)}` failed:\n{said}\n",
            (
                "Check the network. A version that the suite no longer holds needs another pin "
                "in deploy/embedded/fetching/debian.lock."
            ),
        )
    return ran.stdout

"""Packages of another Debian release than this machine's, by an apt that has lists and archives of its own; root is not needed."""

import os
import shutil
import subprocess
from collections.abc import Sequence
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


def unpack_with_needs(artifact: Artifact, suites: Sequence[str], folder: Path) -> None:
    """Unpack one package and what it needs below `folder`; the package itself must be the pinned one.

    `artifact` has the package's name and version, its organisation is the Debian release. `suites` are lines of sources without kind
    and mirror (`debian trixie main`); the mirror is this machine's. apt checks every file against its suite's signature.
    Raises Unavailable or ChecksumMismatch.
    """
    mirror = debian_mirror()
    if mirror is None or not _KEYRING.exists():
        raise Unavailable("This machine is no Debian that knows a mirror.", "Run it on Debian 11 or later.")
    work = cache_folder() / "apt" / artifact.organisation
    with locked(work / ".lock"):
        for made in ("state/lists/partial", "cache/archives/partial"):
            (work / made).mkdir(parents=True, exist_ok=True)
        (work / "status").touch()
        lines = (f"deb [signed-by={_KEYRING}] {mirror}/{suite}\n" for suite in suites)
        (work / "sources.list").write_text("".join(lines), encoding="utf-8")
        say(f"{artifact.name} {artifact.version}: fetching it and what it needs from Debian {artifact.organisation}")
        _apt(work, "update")
        _apt(work, "install", "--yes", "--download-only", f"{artifact.name}={unquote(artifact.version)}")
        packages = sorted((work / "cache" / "archives").glob("*.deb"))
        (own,) = (package for package in packages if package.name.startswith(f"{artifact.name}_"))
        verify(artifact, own)  # the colon of its version cannot be written in a line of the lock file
        for package in packages:
            unpacked = subprocess.run(["dpkg-deb", "--extract", package, folder], capture_output=True, text=True, check=False)
            if unpacked.returncode != 0:
                raise FetchFailed(f"{package.name} could not be unpacked: {unpacked.stderr.strip()}.", "Is the disk full?")
    shutil.rmtree(work, ignore_errors=True)  # what was unpacked is all that is needed


def _apt(work: Path, *arguments: str) -> None:
    own = {
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
    command = ["apt-get", "--quiet", *(word for name, value in own.items() for word in ("-o", f"{name}={value}")), *arguments]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if ran.returncode != 0:
        said = (ran.stdout + ran.stderr)[-_TAIL_CHARACTERS:]
        raise FetchFailed(
            f"`apt-get {' '.join(arguments)}` failed:\n{said}\n",
            "Check the network. A version that the suite no longer holds needs another pin in deploy/embedded/fetching/debian.lock.",
        )

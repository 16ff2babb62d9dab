"""Installs or unpacks Debian packages. Without the rights to do so, the error names the package."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from deploy.embedded.errors import FetchFailed, Unavailable
from deploy.embedded.fetching.progress import say

_QUIET: Final = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
_TAIL_CHARACTERS: Final = 2000


def install_package(package: str) -> None:
    """Install a Debian package.

    Raises Unavailable when this is not root or not Debian, FetchFailed when apt fails.
    """
    remedy = f"Install the Debian package `{package}`, or run as root on Debian."
    if shutil.which("apt-get") is None:
        raise Unavailable("There is no apt-get on this machine.", remedy)
    if os.geteuid() != 0:
        raise Unavailable(
            f"The Debian package `{package}` is missing and this is not root.", remedy
        )
    say(f"installing the Debian package {package}")
    command = ["apt-get", "install", "-y", "--no-install-recommends", package]
    if _run(command).returncode == 0:
        return
    _run(["apt-get", "update"])  # the list may be missing or old
    _checked(command, remedy)


def download_suite(suite: str, packages: Sequence[str], root: Path) -> None:
    """Unpack packages of a Debian suite and all they need below `root`, without running any of
    their scripts.

    debootstrap checks every file against the suite's signature. Raises Unavailable.
    """
    if os.geteuid() != 0:
        raise Unavailable("debootstrap needs root.", "Run `make fetch` once as root.")
    if shutil.which("debootstrap", path=_path()) is None:
        install_package("debootstrap")
    with tempfile.TemporaryDirectory(
        prefix="roma-debootstrap-"
    ) as work:  # debootstrap does not take every path
        say(f"downloading {', '.join(packages)} of Debian {suite} and what they need")
        wanted = f"--include={','.join(packages)}"
        command = [
            "debootstrap",
            "--download-only",
            "--variant=minbase",
            wanted,
            suite,
            work,
            *_mirror(),
        ]
        _checked(command, "Check the network, then run `make fetch` again.")
        for archive in sorted(Path(work, "var/cache/apt/archives").glob("*.deb")):
            _checked(["dpkg-deb", "--extract", str(archive), str(root)], "Is the disk full?")


def unpack_package(package: str, root: Path) -> None:
    """Unpack one package of this Debian below `root`, without what it needs and without running its
    scripts; root is not needed.

    apt checks it against the suite's signature. Raises Unavailable.
    """
    if shutil.which("apt-get") is None:
        raise Unavailable(
            "There is no apt-get on this machine.",
            f"The Debian package `{package}` holds what is missing.",
        )
    with tempfile.TemporaryDirectory(prefix="roma-package-") as work:
        say(f"downloading the Debian package {package}")
        command = ["apt-get", "download", package]
        if _run(command, Path(work)).returncode != 0:
            _run(["apt-get", "update"])  # the list may be missing or old; only root can renew it
            _checked(
                command,
                "Check the network, run `apt-get update` as root, then try again.",
                folder=Path(work),
            )
        (archive,) = Path(work).glob("*.deb")
        _checked(["dpkg-deb", "--extract", str(archive), str(root)], "Is the disk full?")


def debian_mirror() -> str | None:
    """Return the mirror in the sources of this machine's apt, without the final `/debian`.

    None if the machine does not run Debian.
    """
    if "ID=debian" not in _os_release() or shutil.which("apt-get") is None:
        return None
    asked = _run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages"]
    )
    sites = [
        line.split()[0].rstrip("/")
        for line in asked.stdout.splitlines()
        if line and "-security" not in line
    ]
    return sites[0].removesuffix("/debian") if sites and sites[0].endswith("/debian") else None


def _mirror() -> list[str]:
    """Return the mirror of this Debian; on other systems debootstrap's default."""
    mirror = debian_mirror()
    return [] if mirror is None else [f"{mirror}/debian"]


def _os_release() -> list[str]:
    file = Path("/etc/os-release")
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def _path() -> str:
    """Return PATH with the folders of the super-user's programs."""
    return f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"


def _run(command: Sequence[str], folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, **_QUIET, "PATH": _path()}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _checked(command: Sequence[str], remedy: str, folder: Path | None = None) -> None:
    ran = _run(command, folder)
    if ran.returncode != 0:
        said = (ran.stdout + ran.stderr)[-_TAIL_CHARACTERS:]
        raise FetchFailed(f"`{shlex.join(command)}` failed:\n{said}\n", remedy)

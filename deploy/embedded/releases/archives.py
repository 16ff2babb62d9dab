"""Unpacks the archive of a release, and checks that this machine can run it."""

import re
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

from deploy.embedded.cache import cache_folder
from deploy.embedded.errors import Unavailable
from deploy.embedded.fetching.archive import unpack
from deploy.embedded.fetching.artifacts import fingerprint, pinned
from deploy.embedded.fetching.debian import install_package
from deploy.embedded.fetching.jars import jars
from deploy.embedded.fetching.progress import say


def unpack_members(wanted: str, folder: Path, below: str, kept: str) -> None:
    """Unpack members of the one archive of a set, and delete the archive.

    wanted  set of the lock file
    folder  where they are unpacked
    below   path in the archive: only members below it are unpacked, under names without it
    kept    regular expression for these names

    Raises Unavailable or ChecksumMismatch.
    """
    archive = _fetched(wanted)
    say(f"{wanted}: unpacking")
    with zipfile.ZipFile(archive) as content:
        for entry in content.infolist():
            relative = entry.filename.removeprefix(below)
            if (
                entry.is_dir()
                or not entry.filename.startswith(below)
                or not re.fullmatch(kept, relative)
            ):
                continue
            target = folder / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            with content.open(entry) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
    _drop(wanted)


def unpack_inner(wanted: str, folder: Path, inner: str, kept: Sequence[str]) -> None:
    """Unpack members of a compressed archive that is inside the one archive of a set, and delete
    both archives.

    inner  the inner archive's path in the outer one
    kept   names of the members

    Raises Unavailable or ChecksumMismatch.
    """
    archive = _fetched(wanted)
    say(f"{wanted}: unpacking")
    with zipfile.ZipFile(archive) as content:
        packed = Path(content.extract(inner, folder))
    unpack(packed, folder, "--no-same-owner", *kept)
    packed.unlink()
    _drop(wanted)


def check_runs(program: Sequence[str | Path], name: str, packages: Sequence[str] = ()) -> None:
    """Check that a program finds its libraries. If it does not, install `packages` (root, Debian).

    program  the command
    name     name of the server, for the error

    Raises Unavailable if the program does not run.
    """
    said = _version(program)
    for package in packages if said else ():
        install_package(package)
        said = _version(program)
    if said:
        remedy = (
            f"Install the packages that hold it (Debian: {', '.join(packages)})."
            if packages
            else "It needs x86-64 and glibc."
        )
        raise Unavailable(f"{name} does not run on this machine: {said}", remedy)


def _version(program: Sequence[str | Path]) -> str:
    """Return the error of the program when it is asked for its version; "" for none."""
    try:
        ran = subprocess.run(
            [*map(str, program), "--no-defaults", "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as exc:
        return f"{exc}."
    return (
        ""
        if ran.returncode == 0
        else f"{ran.stderr.strip() or f'it ends with code {ran.returncode}'}."
    )


def _fetched(wanted: str) -> Path:
    folder = jars(wanted)
    (artifact,) = pinned(wanted)
    return folder / artifact.file


def _drop(wanted: str) -> None:
    """Delete the archive, which can be ten times as large as the unpacked files."""
    shutil.rmtree(
        cache_folder() / "jars" / f"{wanted}-{fingerprint(pinned(wanted))}", ignore_errors=True
    )

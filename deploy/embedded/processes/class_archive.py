"""Archives of parsed Java classes in the cache: a JVM that maps one does not parse and verify these
classes at its start.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.errors import Unavailable
from deploy.embedded.processes.java import Java, find_java

REMEDY: Final = "Programs start without the archive, more slowly; run `make fetch` to try again."
_FILE: Final = "classes.jsa"
_SIZE: Final = "size"
"""The file with the archive's size in bytes: a JVM that maps a shorter archive crashes."""


def archive_options(classpath: str, root: Path | None = None) -> tuple[str, ...]:
    """Return the JVM options that map the archive of a class path; empty if `root` (None: the
    cache) has no such archive, or if its size differs from the size that was written.

    The JVM compares the archive with its own build, the jars and the archive's checksums. It runs
    without an archive that differs or is damaged.
    """
    folder = _folder(find_java(), classpath, root)
    if not _is_whole(folder):
        return ()
    return ("-Xshare:auto", "-XX:+VerifySharedSpaces", f"-XX:SharedArchiveFile={folder / _FILE}")


def make_archive(
    classpath: str, run: Callable[[tuple[str, ...]], None], root: Path | None = None
) -> Path:
    """Return the archive of a class path in `root` (None: in the cache), made if missing.

    `run` receives the JVM options that write it, and runs the program to its graceful end. Other
    processes see the archive only when it is complete. Raises Unavailable if the JVM wrote none, or
    if the folder cannot be written.
    """

    def build(folder: Path) -> None:
        run((f"-XX:ArchiveClassesAtExit={folder / _FILE}",))
        file = folder / _FILE
        if not file.exists():
            raise Unavailable("The JVM wrote no archive of its classes.", REMEDY)
        (folder / _SIZE).write_text(str(file.stat().st_size), "ascii")

    try:
        return install(_folder(find_java(), classpath, root), build) / _FILE
    except OSError as exc:
        raise Unavailable(f"The archive of classes cannot be written: {exc}.", REMEDY) from exc


def _is_whole(folder: Path) -> bool:
    try:
        return str((folder / _FILE).stat().st_size) == (folder / _SIZE).read_text("ascii")
    except OSError:
        return False


def _folder(java: Java, classpath: str, root: Path | None) -> Path:
    """Return the folder for a class path and a JDK: another build of the JDK has another one."""
    build = (java.home / "lib" / "modules").stat()
    key = f"{java.home} {build.st_size} {build.st_mtime_ns} {classpath}"
    return (root or cache_folder() / "classes") / hashlib.sha256(key.encode()).hexdigest()[:12]

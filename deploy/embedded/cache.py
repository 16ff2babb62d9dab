"""The folder of fetched files, and their atomic installation."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of all fetched files, made if missing: ROMA_CACHE, else `roma` in
    XDG_CACHE_HOME, else in ~/.cache.
    """
    own = os.environ.get("ROMA_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME")
    if own:
        folder = Path(own).expanduser()
    elif shared and Path(shared).is_absolute():  # the XDG rule: a relative path is to be ignored
        folder = Path(shared) / "roma"
    else:
        folder = Path.home() / ".cache" / "roma"
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Context manager: hold an exclusive lock between processes on the file `path`. The lock also
    ends with the process that holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(target: Path, build: Callable[[Path], None]) -> Path:
    """Return `target`, built by `build` if missing.

    `build` fills an empty folder, which is renamed to `target` when it is complete. So a crash
    leaves no partial `target`.
    """
    if target.exists():
        return target
    with locked(target.with_name(f".{target.name}.lock")):
        if not target.exists():
            partial = target.with_name(
                f"{target.name}.partial"
            )  # no leading dot: InnoDB passes over files below hidden folders
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            build(partial)
            partial.rename(target)
    return target

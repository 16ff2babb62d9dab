"""The programs of this Debian's package `prometheus`: promtool, which checks alert rules, and the
server.
"""

import shutil
from pathlib import Path
from typing import Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.debian import unpack_package

_FOLDER: Final = "prometheus"
_PROGRAMS: Final = ("promtool", "prometheus")


def promtool() -> Path:
    """Return the program, fetched when missing.

    apt checks the package's signature. Raises Unavailable.
    """
    return _folder() / "promtool"


def prometheus_program() -> Path:
    """Return the server's program, fetched when missing. Raises Unavailable."""
    return _folder() / "prometheus"


def fetch_promtool() -> str:
    """Fetch both programs; return the name of the one that the suite needs."""
    return promtool().name


def _folder() -> Path:
    return install(cache_folder() / _FOLDER, _unpack)


def _unpack(folder: Path) -> None:
    unpack_package("prometheus", folder)
    for program in _PROGRAMS:
        shutil.move(folder / "usr/bin" / program, folder / program)
    for below in ("usr", "etc", "lib", "var"):  # the web pages are larger than the programs
        shutil.rmtree(folder / below, ignore_errors=True)

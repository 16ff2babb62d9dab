"""Prometheus' promtool, of this Debian's package `prometheus`: it checks alert rules."""

import shutil
from pathlib import Path
from typing import Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.debian import unpack_package

_PROGRAM: Final = "usr/bin/promtool"


def promtool() -> Path:
    """Return the program, fetched when missing.

    apt checks the package's signature. Raises Unavailable.
    """
    return install(cache_folder() / "promtool", _unpack) / "promtool"


def fetch_promtool() -> str:
    """Fetch the program; return its name."""
    return promtool().name


def _unpack(folder: Path) -> None:
    unpack_package("prometheus", folder)
    shutil.move(folder / _PROGRAM, folder / "promtool")
    for below in ("usr", "etc", "lib", "var"):
        shutil.rmtree(
            folder / below, ignore_errors=True
        )  # the server and its web pages are twice as large

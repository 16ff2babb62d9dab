"""The programs of Debian's package `prometheus`: the server, and promtool, which checks alert
rules.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.debian import unpack_package
from deploy.embedded.processes.http_check import http_ok
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess

_FOLDER: Final = "prometheus"
_PROGRAMS: Final = ("promtool", "prometheus")


class Prometheus(ServerProcess):
    """One server that scrapes targets every second.

    targets  job name → addresses host:port; labels that a target itself has are kept
    """

    name: ClassVar[str] = "prometheus"

    def __init__(self, targets: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._targets = {job: tuple(addresses) for job, addresses in targets.items()}
        self._port = self._reserve_port()

    @classmethod
    def fetch(cls) -> str:
        """Fetch the program; return its name. Raises Unavailable."""
        return prometheus_program().name

    @property
    def address(self) -> str:
        """Return host:port of its HTTP interface."""
        return f"{HOST}:{self._port}"

    @property
    def url(self) -> str:
        """Return the address of its HTTP interface."""
        return f"http://{self.address}"

    def _prepare(self) -> None:
        jobs = "".join(
            f"  - job_name: {job}\n    honor_labels: true\n    static_configs:\n"
            f"      - targets: [{', '.join(addresses)}]\n"
            for job, addresses in self._targets.items()
        )
        self._config.write_text(
            f"global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\nscrape_configs:\n{jobs}",
            encoding="utf-8",
        )

    def _command(self) -> Sequence[str | Path]:
        return [
            prometheus_program(),
            f"--config.file={self._config}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address={self.address}",
        ]

    @property
    def _config(self) -> Path:
        return self.folder / "prometheus.yml"

    def _answers(self) -> bool:
        return http_ok(self._port, "/-/ready")


def promtool() -> Path:
    """Return the program, fetched when missing.

    apt checks the package's signature. Raises Unavailable.
    """
    return _folder() / "promtool"


def prometheus_program() -> Path:
    """Return the server's program, fetched when missing. Raises Unavailable."""
    return _folder() / "prometheus"


def fetch_promtool() -> str:
    """Fetch Prometheus and promtool; return the name of promtool, which the tests need."""
    return promtool().name


def _folder() -> Path:
    return install(cache_folder() / _FOLDER, _unpack)


def _unpack(folder: Path) -> None:
    unpack_package("prometheus", folder)
    for program in _PROGRAMS:
        shutil.move(folder / "usr/bin" / program, folder / program)
    for below in ("usr", "etc", "lib", "var"):  # the web pages are larger than the programs
        shutil.rmtree(folder / below, ignore_errors=True)

"""Apicurio, a schema registry with Confluent's interface; it keeps schemas in memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.artifacts import fingerprint, pinned
from deploy.embedded.processes.http_check import http_ok
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.releases.archives import unpack_members

_SET: Final = "apicurio"


class Apicurio(ServerProcess):
    """An Apicurio schema registry; a restart loses its schemas."""

    name: ClassVar[str] = _SET

    def __init__(self, *, heap: str = "256m", jvm_options: Sequence[str] = ()) -> None:
        super().__init__()
        self.heap = heap
        self.jvm_options = tuple(jvm_options)
        self._port = self._reserve_port()

    @classmethod
    def fetch(cls) -> str:
        """Download the server's files; return its name and version. Raises Unavailable."""
        find_java()
        (archive,) = pinned(_SET)
        _folder()
        return f"{_SET}-{archive.version}"

    @property
    def address(self) -> str:
        """Return host:port of its HTTP interface."""
        return f"{HOST}:{self._port}"

    @property
    def url(self) -> str:
        """Return the address of Confluent's interface, version 7."""
        return f"http://{self.address}/apis/ccompat/v7"

    def _prepare(self) -> None:
        """Nothing: options of the command configure it."""

    def _command(self) -> Sequence[str | Path]:
        (program,) = _folder().glob("*-runner.jar")
        return [
            find_java().binary,
            f"-Xmx{self.heap}",
            "-XX:+UseSerialGC",
            *self.jvm_options,
            "-Djava.net.preferIPv4Stack=true",
            f"-Djava.io.tmpdir={self.folder}",
            f"-Dquarkus.http.host={HOST}",
            f"-Dquarkus.http.port={self._port}",
            "-jar",
            program,
        ]

    def _answers(self) -> bool:
        return http_ok(self._port, "/apis/ccompat/v7/subjects")


def _folder() -> Path:
    wanted = f"{_SET}-{fingerprint(pinned(_SET))}"
    return install(
        cache_folder() / wanted, lambda folder: unpack_members(_SET, folder, "", r".*\.jar")
    )

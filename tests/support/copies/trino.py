"""Trino as a child process.

ROMA_TRINO_HOME names an unpacked server, ROMA_TRINO_JAVA_HOME its JDK (24 or later for Trino 476).
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.request import Request, urlopen

from deploy.embedded.processes.http_check import http_ok
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess

_ASK_SECONDS = 60


class Trino(ServerProcess):
    """One Trino with a catalog `delta` over local files; its own folder holds the metastore."""

    name: ClassVar[str] = "trino"

    def __init__(self) -> None:
        super().__init__()
        self._port = self._reserve_port()

    @classmethod
    def fetch(cls) -> str:
        """Return the server's name; nothing is downloaded."""
        return f"trino at {os.environ['ROMA_TRINO_HOME']}"

    @property
    def address(self) -> str:
        """Return host:port of its HTTP interface."""
        return f"{HOST}:{self._port}"

    def ask(self, sql: str) -> list[list[Any]]:
        """Return the rows of a statement; fail with Trino's message."""
        user = {"X-Trino-User": "test"}
        base = f"http://{self.address}"
        request = Request(  # noqa: S310
            f"{base}/v1/statement", data=sql.encode(), headers=user
        )
        rows: list[list[Any]] = []
        while True:
            with urlopen(request, timeout=_ASK_SECONDS) as answer:  # noqa: S310
                found = json.load(answer)
            assert "error" not in found, f"{sql}: {found['error']['message']}"
            rows += found.get("data", [])
            if "nextUri" not in found:
                return rows
            request = Request(found["nextUri"], headers=user)  # noqa: S310

    def _prepare(self) -> None:
        files: dict[str, Mapping[str, object]] = {
            "node.properties": {"node.environment": "test", "node.data-dir": self.folder / "data"},
            "config.properties": {
                "coordinator": "true",
                "node-scheduler.include-coordinator": "true",
                "http-server.http.port": self._port,
                "discovery.uri": f"http://{self.address}",
                "node.internal-address": HOST,
            },
            "catalog/delta.properties": {
                "connector.name": "delta_lake",
                "hive.metastore": "file",
                "hive.metastore.catalog.dir": f"local://{self.folder}/metastore",
                "fs.native-local.enabled": "true",
                "local.location": "/",
                "delta.register-table-procedure.enabled": "true",
            },
        }
        for name, settings in files.items():
            file = self.folder / "etc" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            lines = (f"{key}={value}\n" for key, value in settings.items())
            file.write_text("".join(lines), encoding="utf-8")
        options = "-Xmx2G\n-XX:TieredStopAtLevel=1\n-Dfile.encoding=UTF-8\n"
        (self.folder / "etc" / "jvm.config").write_text(options, encoding="utf-8")

    def _command(self) -> Sequence[str | Path]:
        launcher = Path(os.environ["ROMA_TRINO_HOME"]) / "bin" / "launcher"
        java = os.environ["ROMA_TRINO_JAVA_HOME"]
        tell = ["env", f"JAVA_HOME={java}", f"PATH={java}/bin:{os.defpath}"]
        return [*tell, launcher, "run", "--etc-dir", self.folder / "etc"]

    def _answers(self) -> bool:
        if not http_ok(self._port, "/v1/info"):
            return False
        with urlopen(f"http://{self.address}/v1/info", timeout=_ASK_SECONDS) as answer:
            return not json.load(answer)["starting"]

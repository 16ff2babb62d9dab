"""A proxy in front of a server that can drop and refuse connections while the server runs."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

_CHUNK_BYTES = 65_536


class TcpGate:
    """Forwards connections on a loopback port to a server.

    `shut` drops the open ones and refuses new ones, until `reopen`.

    After `swallow`, connections stay open and new ones are accepted, but no byte is forwarded until
    `reopen`.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open = True
        self._flowing = threading.Event()
        self._flowing.set()
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, name="tcp-gate", daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.shut()
        self._flowing.set()
        self._thread.join(10)

    def shut(self) -> None:
        with self._lock:
            self._open = False
            sockets, self._sockets = self._sockets, []
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def lead_to(self, host: str, port: int) -> None:
        """Drop all connections, and forward new ones to another server."""
        self.shut()
        self._target = (host, port)
        self.reopen()

    def swallow(self) -> None:
        self._flowing.clear()

    def reopen(self) -> None:
        with self._lock:
            self._open = True
        self._flowing.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if not self._open:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(self._target)
                except OSError:  # the server itself is down
                    client.close()
                    continue
                self._sockets += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(
                    target=self._copy, args=(source, target), name="tcp-gate-copy", daemon=True
                ).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK_BYTES):
                self._flowing.wait()
                target.sendall(chunk)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        source.close()

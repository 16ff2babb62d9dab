"""A proxy that can stop forwarding without closing a connection."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Event, Thread


class StallingWay:
    """Forwards bytes in both directions until `stall()`.

    Afterwards it accepts all bytes and connections and forwards nothing.
    """

    def __init__(self, listener: socket.socket, port: int) -> None:
        self.port: int = listener.getsockname()[1]
        self._listener, self._target = listener, port
        self._stalled = Event()
        self._sockets: list[socket.socket] = []

    def stall(self) -> None:
        """Stop forwarding."""
        self._stalled.set()

    def accept(self) -> None:
        """Accept connections until the listener is closed."""
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._sockets.append(near)
                if not self._stalled.is_set():
                    far = socket.create_connection(("127.0.0.1", self._target))
                    self._sockets.append(far)
                    for one, other in ((near, far), (far, near)):
                        Thread(target=self._forward, args=(one, other), daemon=True).start()

    def close(self) -> None:
        """Close every connection."""
        for each in self._sockets:
            each.close()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._stalled.is_set():
                    target.sendall(data)


@contextmanager
def stalling_way(port: int) -> Iterator[StallingWay]:
    """Context manager: a proxy for a port of this machine."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        way = StallingWay(listener, port)
        Thread(target=way.accept, daemon=True).start()
        try:
            yield way
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            way.close()

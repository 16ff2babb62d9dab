import socket
from collections.abc import Sequence
from typing import Any

from kazoo.interfaces import IAsyncResult

class KazooTimeoutError(Exception): ...

class SequentialThreadingHandler:
    def __init__(self) -> None: ...
    def create_connection(
        self, address: tuple[str, int], *, timeout: float | None = ..., **more: Any
    ) -> socket.socket: ...
    def async_result(self) -> IAsyncResult[Any]: ...
    def select(
        self,
        rlist: Sequence[socket.socket],
        wlist: Sequence[socket.socket],
        xlist: Sequence[socket.socket],
        timeout: float | None = ...,
    ) -> tuple[list[socket.socket], list[socket.socket], list[socket.socket]]: ...

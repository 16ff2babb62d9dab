import socket
from typing import Any

class KazooTimeoutError(Exception): ...

class SequentialThreadingHandler:
    def __init__(self) -> None: ...
    def create_connection(
        self, address: tuple[str, int], *, timeout: float | None = ..., **more: Any
    ) -> socket.socket: ...

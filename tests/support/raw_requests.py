"""Requests as bytes, which no library of clients would send."""

import socket
from contextlib import suppress
from typing import Final

_SECONDS: Final = 60.0


def answer_of(port: int, request: bytes) -> bytes:
    """Send a request to this machine; return what comes until the server closes or resets."""
    received = bytearray()
    with (
        socket.create_connection(("127.0.0.1", port), timeout=_SECONDS) as connection,
        suppress(ConnectionError),
    ):
        connection.sendall(request)
        while part := connection.recv(65_536):
            received += part
    return bytes(received)


def status_of(answer: bytes) -> int:
    """Return the status of the first answer; 0 if there is none."""
    words = answer.partition(b"\r\n")[0].split()
    return int(words[1]) if len(words) > 1 else 0

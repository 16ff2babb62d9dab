"""Serves the status by HTTP in the event loop, for a process that must not start threads."""

import asyncio
import io
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException, parse_headers
from typing import Final

from relay.telemetry.known_hosts import KnownHosts
from relay.telemetry.status_server import TEXT, UNKNOWN_HOST, cannot_listen
from relay.threads import Guard

_READ_TIMEOUT_SECONDS: Final = 10.0
_WRITE_TIMEOUT_SECONDS: Final = 10.0
_LONGEST_HEAD: Final = 1 << 16
_KIND: Final = "status-server"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a request. `headers` are those in addition to type and length."""

    status: HTTPStatus
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


_UNEXPECTED: Final = Reply(
    HTTPStatus.INTERNAL_SERVER_ERROR, TEXT, b"Unexpected error; the log shows it.\n"
)


class StatusLoop:
    """An HTTP server that answers GET by calling `answer` with the path.

    An error of one request is reported, answered with status 500, and does not affect others.
    """

    def __init__(
        self,
        host: str,
        port: int,
        names: Sequence[str],
        answer: Callable[[str], Awaitable[Reply]],
    ) -> None:
        """Take the port (0: a free one); the arguments are those of `StatusServer`.

        Raises ConfigurationError if the port is not available.
        """
        self._known = KnownHosts([host, socket.gethostname(), *names])
        self._answer = answer
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family)
        except OSError as exc:
            raise cannot_listen(host, port, exc) from exc
        self._server: asyncio.Server | None = None
        name, real_port = self._socket.getsockname()[:2]
        self.url: Final = f"http://{f'[{name}]' if ':' in name else name}:{real_port}"
        """The address of the server, with the real port."""

    async def start(self) -> None:
        """Begin to answer."""
        self._server = await asyncio.start_server(
            self._serve, sock=self._socket, limit=_LONGEST_HEAD
        )

    def close(self) -> None:
        """Stop answering, and close the port."""
        if self._server is not None:
            self._server.close()
        self._socket.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and end its connection."""
        try:
            with suppress(TimeoutError, EOFError, OSError, asyncio.LimitOverrunError):
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _READ_TIMEOUT_SECONDS)
                writer.write(_message(await self._reply(head)))
                await asyncio.wait_for(writer.drain(), _WRITE_TIMEOUT_SECONDS)
            writer.close()
            with suppress(TimeoutError, OSError):
                await asyncio.wait_for(writer.wait_closed(), _WRITE_TIMEOUT_SECONDS)
        finally:
            writer.transport.abort()

    async def _reply(self, head: bytes) -> Reply:
        try:
            method, target, hosts = _parsed(head)
        except (ValueError, HTTPException):
            return Reply(HTTPStatus.BAD_REQUEST, TEXT, b"This is not an HTTP request.\n")
        replies = [_UNEXPECTED]
        with Guard(_KIND):
            replies.append(await self._reply_to(method, target, hosts))
        return replies[-1]

    async def _reply_to(self, method: str, target: str, hosts: Sequence[str]) -> Reply:
        if not all(self._known.knows(each) for each in hosts):
            return Reply(HTTPStatus.MISDIRECTED_REQUEST, TEXT, UNKNOWN_HOST)
        if method != "GET":
            return Reply(HTTPStatus.NOT_IMPLEMENTED, TEXT, b"Only GET is answered here.\n")
        return await self._answer(target.partition("?")[0])


def _parsed(head: bytes) -> tuple[str, str, Sequence[str]]:
    """Return method, target and Host headers of a request. Raises ValueError, HTTPException."""
    lines = io.BytesIO(head)
    method, target, _ = lines.readline().decode("latin-1").split()
    return method, target, parse_headers(lines).get_all("Host", [])


def _message(reply: Reply) -> bytes:
    headers = {
        "Content-Type": reply.content_type,
        "Content-Length": str(len(reply.body)),
        "Connection": "close",
        **reply.headers,
    }
    lines = [f"HTTP/1.1 {reply.status.value} {reply.status.phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + reply.body

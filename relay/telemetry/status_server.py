"""The HTTP endpoints of the relay process: /healthz, /readyz, /metrics and /status."""

import json
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Final

import structlog

from relay.errors import ConfigurationError
from relay.telemetry import metrics
from relay.telemetry.known_hosts import KnownHosts
from relay.threads import RelayThread

JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"
UNKNOWN_HOST: Final = (
    b"This relay is not known by that name. Use an IP address or localhost, or add the name to "
    b"status.hosts.\n"
)
NO_SUCH_PATH: Final = b"There are /healthz, /readyz, /metrics and /status here.\n"
# Timeout in seconds of a client that sends nothing, so that it does not hold a thread.
_READ_TIMEOUT_SECONDS: Final = 10.0
_STOP_TIMEOUT_SECONDS: Final = 5.0

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Answers:
    """The functions that answer requests. They are called in the server's threads and must not
    wait.

    unhealthy, unready  return the reason as a sentence; None: the process is healthy or ready
    statuses            returns one JSON object for each instance
    """

    unhealthy: Callable[[], str | None]
    unready: Callable[[], str | None]
    statuses: Callable[[], Sequence[Mapping[str, object]]]


class StatusServer:
    """A small HTTP server in separate threads; it reads and never changes anything."""

    def __init__(self, host: str, port: int, answers: Answers, names: Sequence[str] = ()) -> None:
        """Take the port (0: a free one).

        `names`: host names that clients use besides `host`, the machine's own name, localhost and
        IP addresses. Raises ConfigurationError if the port is not available.
        """
        known = KnownHosts([host, socket.gethostname(), *names])
        try:
            self._server = _Server((host, port), answers, known)
        except OSError as exc:
            raise cannot_listen(host, port, exc) from exc
        self._thread = RelayThread("status-server", "", self._server.serve_forever)

    @property
    def url(self) -> str:
        """The address of the server, with the real port."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering, and close the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(_STOP_TIMEOUT_SECONDS)
        self._server.server_close()


def cannot_listen(host: str, port: int, error: OSError) -> ConfigurationError:
    """Return the error of an address that is not available."""
    return ConfigurationError(
        f"status.host and status.port: the process cannot listen on {host}:{port} "
        f"({error.strerror})."
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], answers: Answers, known: KnownHosts) -> None:
        self.answers = answers
        self.known = known
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without the reverse name look-up of the base class, which hangs where names do not
        resolve.
        """
        TCPServer.server_bind(self)
        self.server_name, self.server_port = (
            str(self.server_address[0]),
            int(self.server_address[1]),
        )


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _READ_TIMEOUT_SECONDS
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        answers = self.server.answers
        if not self._is_for_this_server():
            self._send(HTTPStatus.MISDIRECTED_REQUEST, TEXT, UNKNOWN_HOST)
        elif path == "/healthz":
            self._say_whether(answers.unhealthy())
        elif path == "/readyz":
            self._say_whether(answers.unready())
        elif path == "/metrics":
            self._send(HTTPStatus.OK, metrics.CONTENT_TYPE, metrics.render())
        elif path == "/status":
            self._send(HTTPStatus.OK, JSON, json.dumps(list(answers.statuses())).encode())
        else:
            self._send(HTTPStatus.NOT_FOUND, TEXT, NO_SUCH_PATH)

    def log_message(self, *line: object, **_: object) -> None:
        _log.debug("status_request_received", line=str(line[0]) % line[1:])

    def _is_for_this_server(self) -> bool:
        """Return whether the server is known by every Host header of the request.

        There should be one.
        """
        return all(self.server.known.knows(each) for each in self.headers.get_all("Host", []))

    def _say_whether(self, why_not: str | None) -> None:
        status = HTTPStatus.OK if why_not is None else HTTPStatus.SERVICE_UNAVAILABLE
        self._send(status, TEXT, f"{why_not or 'ok'}\n".encode())

    def _send(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

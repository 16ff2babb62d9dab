"""Serves the admin until a signal stops it."""

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from api.access.exposure import check_exposure
from api.app import create_app
from api.composition import Admin
from api.first_start import FirstStart
from api.garbage import collect_garbage_rarely
from api.middleware.connections import KEEP_ALIVE_SECONDS, TimedProtocol, timed_handshakes
from api.middleware.real_peer import RealPeer
from api.middleware.tls_certificate import TlsCertificate
from relay.service import Say, listening_socket, say_text
from relay.settings import ApiSettings, RelaySettings

# Answers under way get this long after the signal; ZooKeeper's own answer takes 3 s at most.
_GRACE_SECONDS: Final = 5
_TICKS: Final = 50
"""The files of the certificate are checked after this many ticks of 0.1 s."""

_log = structlog.stdlib.get_logger(__name__)


class AdminServer(uvicorn.Server):
    """A uvicorn server that prints its URL in one line when it accepts requests.

    admin        the parts of the admin; their streams end when the server stops
    say          prints the URL
    certificate  TLS certificate, read again when its files change; None: the server uses plain HTTP
    """

    first_start: FirstStart | None = None

    def __init__(
        self,
        config: uvicorn.Config,
        url: str,
        admin: Admin,
        certificate: TlsCertificate | None = None,
    ) -> None:
        super().__init__(config)
        self.say: Say = say_text
        self.url = url
        self.admin = admin
        self._certificate = certificate

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, then print the URL on standard output."""
        with timed_handshakes(asyncio.get_running_loop()):
            await super().startup(sockets)
        if self.started:
            self.say("admin", self.url)
            if self.first_start is not None:
                self.first_start.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then finish the requests in progress."""
        if self.first_start is not None:
            self.first_start.stop()
        self.admin.watch.end()
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        """Read the certificate if it has changed. Return True if the server must stop."""
        if self._certificate is not None and counter % _TICKS == 0:
            self._certificate.refresh()
        return await super().on_tick(counter)


def serve(settings: RelaySettings, say: Say) -> None:
    """Run the admin until SIGTERM or SIGINT, then finish the requests in progress.

    say  prints the URL, and the link for the first administrator

    Raises ConfigurationError if the address cannot be used, or if the TLS files are unusable.
    """
    check_exposure(settings.api)
    listener = listening_socket("api", settings.api.host, settings.api.port)
    if settings.api.token is not None and settings.api.token.get_secret_value():
        _log.warning(
            "file_token_holds_all_rights",
            remedy="Give each user and program a token (`roma tokens add`), then remove api.token.",
        )
    try:
        server = make_server(settings, listener, collect_garbage_rarely)
        server.say = say
        server.first_start = FirstStart(server.admin, server.url, say)
        _stop_on_signals(server)
        server.run(sockets=[listener])
    finally:
        listener.close()


def make_server(
    settings: RelaySettings, listener: socket.socket, on_warm: Callable[[], None] = lambda: None
) -> AdminServer:
    """Return a server that accepts connections on `listener`, a socket that already listens.

    `on_warm` is called in a thread after the logical view was computed for the first time. Raises
    ConfigurationError if the TLS files do not contain a certificate and its key.
    """
    tls = settings.api.tls
    certificate = None if tls is None else TlsCertificate(tls)
    app = create_app(settings, on_warm)
    config = uvicorn.Config(
        RealPeer(_behind_proxy(app, settings.api)),
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `RealPeer` must see a request before them
        http=TimedProtocol,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    config.load()
    if certificate is not None:
        config.ssl = certificate.context
    return AdminServer(config, _url(settings.api, listener), app.state.admin, certificate)


def _behind_proxy(app: ASGIApp, settings: ApiSettings) -> ASGIApp:
    """Let the proxy's headers replace the client's address, if there is a proxy."""
    if not settings.behind_proxy:
        return app
    return ProxyHeadersMiddleware(app, list(settings.proxies))  # type: ignore[arg-type,return-value]


def _url(settings: ApiSettings, listener: socket.socket) -> str:
    scheme, host = "http" if settings.tls is None else "https", settings.host
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def _stop_on_signals(server: uvicorn.Server) -> None:
    """Stop on a signal that arrives before uvicorn handles signals.

    Ignore the signal that uvicorn raises again when it has ended.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)

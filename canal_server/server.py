"""The server: accepts connections, gives each one a thread, and stops them."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final

import structlog

from canal_server.channel import Channel, Closed
from canal_server.claims import Claims, Subscriber
from canal_server.connection import Connection
from canal_server.errors import TooMany
from canal_server.figures import ClientFigures
from canal_server.logins import Logins
from canal_server.subscriber_feed import SubscriberFeed
from canal_server.wire import refused
from relay.errors import ConfigurationError, ResourcesExhausted
from relay.kafka.client import client_configuration
from relay.model.loopback import is_loopback
from relay.service import listening_socket
from relay.settings import CanalServerSettings, RelaySettings
from relay.telemetry import metrics
from relay.threads import RelayThread
from roma_client.canal import CanalConnector
from roma_client.kafka.options import owned_settings

_ACCEPT_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 20.0
_QUEUE_KBYTES: Final = 16_384
"""Kilobytes of records that a consumer fetches in advance (`queued.max.messages.kbytes`)."""

_log = structlog.stdlib.get_logger(__name__)


class CanalServer:
    """A server for clients of Canal. Call `start` and `stop` once each."""

    def __init__(self, settings: RelaySettings) -> None:
        """Listen. Raises ConfigurationError without `[canal_server]`, for an address beyond
        loopback without a password, and for a port that is not available.
        """
        if settings.canal_server is None:
            raise ConfigurationError(
                "The file has no section [canal_server].",
                remedy="Add it with at least one [[canal_server.destinations]].",
            )
        self._settings = settings
        self._own = settings.canal_server
        _check_exposure(self._own)
        self._listener = listening_socket("canal_server", self._own.host, self._own.port)
        self._claims = Claims()
        self._logins = Logins(self._own.max_connections, self._own.max_logins)
        self._stop = threading.Event()
        self._threads: set[RelayThread] = set()
        self._accepting = RelayThread("canal-listener", "", self._accept)

    @property
    def address(self) -> tuple[str, int]:
        """Return host and port at which the server listens. The port is the real one if 0 was
        configured.
        """
        host, port = self._listener.getsockname()[:2]
        return str(host), int(port)

    def start(self) -> None:
        """Begin to accept connections."""
        self._accepting.start()

    def stop(self) -> None:
        """Accept no more connections, finish the requests in progress, and close the
        connections.
        """
        self._stop.set()
        end = time.monotonic() + _STOP_SECONDS
        for each in (self._accepting, *self._threads):
            each.join(max(0.0, end - time.monotonic()))
        self._listener.close()

    def _accept(self) -> None:
        self._listener.settimeout(_ACCEPT_SECONDS)
        while not self._stop.is_set():
            try:
                connection, peer = self._listener.accept()
            except TimeoutError:
                continue
            except OSError as exc:
                _log.warning("canal_accept_failed", error=str(exc))
                self._stop.wait(_ACCEPT_SECONDS)
                continue
            self._threads = {each for each in self._threads if each.is_alive()}
            self._begin(Channel(connection, self._own.send_seconds), *peer[:2])

    def _begin(self, channel: Channel, host: str, port: int) -> None:
        """Give a connection a thread, or refuse it."""
        peer, own, logins = f"{host}:{port}", self._own, self._logins
        connection = Connection(channel, peer, own, self._claims, self._feed, self._stop, logins)
        try:
            logins.come(connection, host)
            thread = RelayThread("canal-connection", peer, self._run, connection)
            thread.start()
            self._threads.add(thread)
        except (TooMany, ResourcesExhausted) as exc:
            logins.leave(connection)
            metrics.CANAL_REFUSED.labels(type(exc).__name__).inc()
            _log.warning("canal_refused", peer=peer, error=str(exc))
            _turn_away(channel, str(exc))

    def _run(self, connection: Connection) -> None:
        metrics.CANAL_CONNECTIONS.inc()
        try:
            connection.run()
        finally:
            metrics.CANAL_CONNECTIONS.dec()

    def _feed(self, subscriber: Subscriber, interrupted: Callable[[], bool]) -> SubscriberFeed:
        own = self._own
        figures = ClientFigures(*subscriber)
        token = own.token or self._settings.api.token
        connector = CanalConnector(
            group_of(self._settings.installation, subscriber),
            admin=own.admin,
            token=None if token is None else token.get_secret_value(),
            kafka=_kafka(self._settings),
            start=own.start,
            cache=own.cache,
            session_timeout_seconds=own.session_timeout_seconds,
            refresh_seconds=own.refresh_seconds,
            missing="skip",
            batch_bytes=own.batch_bytes,
            interrupted=interrupted,
            metrics=figures,
            needs_columns=own.deletes_without_columns == "refuse",
        )
        return SubscriberFeed(connector, own, figures, interrupted)


def group_of(installation: str, subscriber: Subscriber) -> str:
    """Return the consumer group in which the position of a client id is stored."""
    return f"{installation}.canal.{subscriber.destination}.{subscriber.client_id}"


def _kafka(settings: RelaySettings) -> dict[str, Any]:
    """Return the settings of a consumer, without those that the connector decides."""
    found = {**client_configuration(settings.kafka), "queued.max.messages.kbytes": _QUEUE_KBYTES}
    owned = owned_settings(found)
    return {name: value for name, value in found.items() if name not in owned}


def _check_exposure(settings: CanalServerSettings) -> None:
    password = settings.password
    if is_loopback(settings.host) or (password is not None and password.get_secret_value()):
        return
    raise ConfigurationError(
        f"canal_server.host: {settings.host} can be reached from other machines, and "
        "canal_server.password is not set.",
        remedy="Set canal_server.user and canal_server.password, or listen at a loopback address.",
    )


def _turn_away(channel: Channel, text: str) -> None:
    """Refuse a connection without waiting for its client."""
    try:
        channel.send(refused(TooMany.number, text))
    except Closed as exc:
        _log.debug("canal_client_left", reason=str(exc))
    channel.close()

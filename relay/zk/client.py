"""kazoo's client for the session: it reconnects without a limit, with fresh secrets, and reports
why it cannot.
"""

import logging
import threading
from collections.abc import Callable
from enum import Enum
from time import monotonic
from typing import Final, Literal

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.protocol.states import KazooState, KeeperState
from kazoo.retry import KazooRetry

from relay.errors import ConfigurationError, StoreLoginRefused, StoreTlsRefused, StoreUnreachable
from relay.settings import ZooKeeperSettings
from relay.zk.connections import Connections
from relay.zk.granted_timeout import ListeningLogger
from relay.zk.login import digest_login, rights_of, sasl_options

# Largest pause between two attempts, so that a recovered server is found within this time.
_RECONNECT_PAUSE_SECONDS: Final = 1.0
_LOGIN_AGAIN_SECONDS: Final = 1.0
"""Pause in seconds after a refused login. A password that was changed at one place is soon changed
at the other place too.
"""
_OF_TLS: Final = ("SSL", "certificate")


class SessionState(Enum):
    """The state of the session with ZooKeeper.

    SUSPENDED: not connected, but the session may still exist. LOST: the session has ended and its
    ephemeral nodes are deleted.
    """

    CONNECTED = "connected"
    SUSPENDED = "suspended"
    LOST = "lost"


class Client:
    """Maintains one session, and opens a new one after each loss, until `stop`.

    `on_connected` is called in kazoo's thread, which must not wait. `on_session` is called there
    for every new session, with its id and its password.
    """

    def __init__(
        self,
        settings: ZooKeeperSettings,
        on_connected: Callable[[], None],
        session: tuple[int, bytes] | None = None,
    ) -> None:
        """Prepare the client without connecting.

        `session`: the id and password of a session to continue. Raises ConfigurationError if
        `zookeeper.hosts` cannot be read.
        """
        self._settings = settings
        self._on_connected = on_connected
        self._log = ListeningLogger(logging.getLogger("relay.zk.kazoo"))
        self._sasl = sasl_options(settings)
        self.kazoo = self._client(session)
        self.kazoo.add_listener(self._state_changed)
        self.connected = threading.Event()
        self.stopped = threading.Event()
        self.state = SessionState.LOST
        self.id: int | None = None
        self.sessions = 0
        self.on_session: Callable[[int, bytes], None] | None = None
        self._started = False
        self._login_refused = False
        self._lock = threading.Lock()
        self._disconnected_at_s = monotonic()

    @property
    def timeout_ms(self) -> int:
        """The silence in milliseconds after which the servers end the session, as they granted it;
        0 before the first connection.
        """
        return self._log.granted_ms

    @property
    def silent_s(self) -> float:
        """Seconds since the connection was lost, 0 while connected."""
        return (
            0.0 if self.state is SessionState.CONNECTED else monotonic() - self._disconnected_at_s
        )

    def start(self) -> None:
        """Connect in the background; repeated calls do nothing."""
        with self._lock:
            if not self._started:
                self._started = True
                self.kazoo.start_async()

    def stop(self) -> None:
        """End the session; repeated calls do nothing."""
        self.stopped.set()
        with self._lock:
            self.kazoo.stop()
            self.kazoo.close()

    def unreachable(self) -> StoreUnreachable:
        """Return the error that explains why there is no connection."""
        hosts, why = self._settings.hosts, self._log.dropped
        if self._login_refused:
            return StoreLoginRefused(f"ZooKeeper at {hosts} refused the login of {self._user}.")
        if self._settings.tls is not None and any(word in why for word in _OF_TLS):
            return StoreTlsRefused(f"No TLS connection to ZooKeeper at {hosts} can be made: {why}.")
        return StoreUnreachable(
            f"No ZooKeeper server answers at {hosts}{f' ({why})' if why else ''}."
        )

    def answered(self) -> None:
        """Record that a request was answered, so the login is valid."""
        self._login_refused = False

    @property
    def _user(self) -> str:
        return (
            "nobody (zookeeper.auth is not set)"
            if self._settings.auth is None
            else self._settings.auth.user
        )

    def _client(self, session: tuple[int, bytes] | None) -> KazooClient:
        if "/" in self._settings.hosts:
            raise ConfigurationError(
                f"zookeeper.hosts {self._settings.hosts!r} contains a path; write it into "
                f"zookeeper.root."
            )
        try:
            return KazooClient(
                hosts=self._settings.hosts,
                timeout=self._settings.session_timeout_seconds,
                handler=Connections(self._settings.tls, self._before_connection),
                connection_retry=KazooRetry(
                    max_tries=-1, delay=0.1, backoff=2, max_delay=_RECONNECT_PAUSE_SECONDS
                ),
                logger=self._log,
                default_acl=rights_of(self._settings),
                sasl_options=self._sasl,
                client_id=session,
            )
        except ValueError as exc:
            raise ConfigurationError(
                f"zookeeper.hosts {self._settings.hosts!r} is not a list of host:port ({exc})."
            ) from exc

    def _before_connection(self) -> None:
        """Read the secrets again, and reset the change number that a server with lost data cannot
        have reached.
        """
        self.kazoo.auth_data = digest_login(self._settings)
        if self._sasl is not None:
            self._sasl.update(sasl_options(self._settings) or {})
        self._accept_an_emptied_server()

    def _accept_an_emptied_server(self) -> None:
        """Accept a server that lost its data.

        Such a server refuses clients that have seen more changes than it has. When the silence has
        lasted so long that the session must have ended, the earlier changes are irrelevant.
        """
        if self.silent_s * 1000 > self.timeout_ms:
            self.kazoo.last_zxid = 0

    def _state_changed(self, state: str) -> Literal[False]:
        """Set flags. kazoo's connection thread calls this method, which must not block."""
        if state == KazooState.CONNECTED:
            self._now_connected()
        else:
            self._now_disconnected(state)
        return False  # returning True would remove the listener

    def _now_connected(self) -> None:
        client_id = self.kazoo.client_id
        if client_id is not None and client_id[0] != self.id:
            self.id = client_id[0]
            self.sessions += 1
            if self.on_session is not None:
                self.on_session(*client_id)
        self.state = SessionState.CONNECTED
        self.connected.set()
        self._on_connected()

    def _now_disconnected(self, state: str) -> None:
        if self.connected.is_set():
            self._disconnected_at_s = monotonic()
        self.connected.clear()
        self.state = SessionState.SUSPENDED if state == KazooState.SUSPENDED else SessionState.LOST
        if self.kazoo.client_state == KeeperState.AUTH_FAILED:
            self._login_refused = True
            again = threading.Timer(_LOGIN_AGAIN_SECONDS, self._log_in_again)
            again.daemon = True
            again.start()

    def _log_in_again(self) -> None:
        """Log in with the current password. kazoo alone would stop permanently after a refused
        login.
        """
        with self._lock:
            if self.stopped.is_set():
                return
            try:
                self.kazoo.start_async()
            except KazooException as exc:
                self._log.warning("The login to ZooKeeper cannot be tried again: %s", exc)

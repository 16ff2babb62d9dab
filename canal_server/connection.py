"""One connection of a Canal client: handshake, login, then its requests in order."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog
from pydantic import SecretStr

from canal_server.channel import Channel, Closed
from canal_server.claims import Claim, Claims, Subscriber
from canal_server.errors import (
    Displaced,
    MissingBatch,
    MissingName,
    NotAuthenticated,
    Refused,
    TooMany,
    UnknownDestination,
)
from canal_server.logins import Logins
from canal_server.passwords import SEED_BYTES, is_right
from canal_server.subscriber_feed import SubscriberFeed
from canal_server.wire import (
    Acknowledge,
    ClientLogin,
    GetBatch,
    NoRequest,
    Request,
    RollBack,
    Subscribe,
    Unsubscribe,
    accepted,
    handshake,
    messages,
    read_login,
    read_request,
    refused,
)
from relay.settings import CanalServerSettings
from relay.telemetry import metrics
from relay.threads import log_unexpected
from roma_client.errors import ClientError

_LARGEST_ID: Final = 32_767
"""Client ids are numbers of 16 bits in Canal."""
_ID_DIGITS: Final = 5
_WRONG_PASSWORD_SECONDS: Final = 1.0
"""Pause before the answer to a wrong password."""

NewFeed = Callable[[Subscriber, Callable[[], bool]], SubscriberFeed]
_log = structlog.stdlib.get_logger(__name__)


class Connection:
    """Serves one client until the client leaves, is refused or displaced, or the server stops."""

    def __init__(
        self,
        channel: Channel,
        peer: str,
        settings: CanalServerSettings,
        claims: Claims,
        new_session: NewFeed,
        stop: threading.Event,
        logins: Logins,
    ) -> None:
        self._channel = channel
        self._peer = peer
        self._settings = settings
        self._claims = claims
        self._new_session = new_session
        self._stop = stop
        self._logins = logins
        self._displaced = threading.Event()
        self._subscriber: Subscriber | None = None
        self._claim: Claim | None = None
        self._feed: SubscriberFeed | None = None
        self._idle_seconds = settings.idle_seconds

    def run(self) -> None:
        """Serve the connection. It raises no errors: they are sent to the client and logged."""
        try:
            self._serve()
        except Closed as exc:
            _log.info("canal_client_left", peer=self._peer, reason=str(exc), **self._names())
        except (Refused, ClientError) as exc:
            self._refuse(exc)
        except Exception as exc:  # noqa: BLE001  # a client must not end the server
            log_unexpected("canal-connection", self._peer, exc)
            self._answer(refused(Refused.number, "The server failed; its log has the reason."))
        finally:
            self._release()
            self._channel.end()
            self._logins.leave(self)

    def turn_away(self) -> None:
        """Close the connection immediately, because too many connections have not logged in.
        Thread-safe.
        """
        metrics.CANAL_REFUSED.labels(TooMany.__name__).inc()
        _log.warning("canal_login_turned_away", peer=self._peer)
        self._displaced.set()
        self._channel.cut()

    def displace(self) -> None:
        """Request the connection to end, because a newer one serves the client id. Thread-safe."""
        self._displaced.set()

    def _serve(self) -> None:
        seeds = os.urandom(SEED_BYTES)
        self._channel.send(handshake(seeds))
        self._log_in(
            read_login(self._channel.read(self._settings.login_seconds, self._idle)), seeds
        )
        while True:
            packet = self._channel.read(self._idle_seconds, self._idle)
            answer = self._answer_to(read_request(packet))
            self._check()
            if answer is not None:
                self._channel.send(answer)

    def _log_in(self, login: ClientLogin, seeds: bytes) -> None:
        own, password = self._settings, self._settings.password
        is_user = own.user in ("", login.username)
        if not is_user or (password is not None and not _has(login, password, seeds)):
            self._displaced.wait(_WRONG_PASSWORD_SECONDS)
            raise NotAuthenticated(f"User {login.username!r} or the password is wrong.")
        self._logins.log_in(self)
        if login.idle_seconds:
            self._idle_seconds = min(own.idle_seconds, login.idle_seconds)
        if login.destination and login.client_id:
            request = Subscribe(login.destination, login.client_id, login.filter)
            self._check_subscriber(request)
            self._subscribe(request)
        self._channel.send(accepted())

    def _answer_to(self, request: Request) -> bytes | None:
        """Carry out a request; return its answer, None where Canal's clients expect none."""
        if isinstance(request, NoRequest):
            return None
        self._check_subscriber(request)
        match request:
            case Subscribe():
                self._subscribe(request)
                return accepted()
            case Unsubscribe():
                if self._feed is not None:
                    self._feed.unsubscribe()
                return accepted()
            case GetBatch(size=size, timeout_seconds=timeout):
                batch = self._subscribed().get(size, timeout)
                return messages(batch.id, batch.entries)
            case Acknowledge(batch_id=batch_id):
                self._acknowledge(batch_id)
            case RollBack(batch_id=batch_id) if self._feed is not None:
                self._feed.rollback(batch_id)
        return None

    def _acknowledge(self, batch_id: int) -> None:
        if batch_id == 0:
            raise MissingBatch("An acknowledgement has no batch id.")
        if batch_id > 0:  # clients acknowledge the id -1 of an empty batch too
            self._subscribed().ack(batch_id)

    def _subscribe(self, request: Subscribe) -> None:
        subscriber = Subscriber(request.destination, request.client_id)
        bound = self._bound_of(subscriber)
        if self._feed is None:
            self._claim = self._claims.take(subscriber, self)
            self._subscriber = subscriber
            self._feed = self._new_session(subscriber, self._is_interrupted)
        self._feed.subscribe(bound, request.filter)
        _log.info("canal_subscribed", peer=self._peer, filter=request.filter, **self._names())

    def _bound_of(self, subscriber: Subscriber) -> str:
        """Return the filter of a destination."""
        for each in self._settings.destinations:
            if each.name == subscriber.destination:
                return each.filter
        known = ", ".join(each.name for each in self._settings.destinations)
        raise UnknownDestination(
            f"There is no destination {subscriber.destination!r}, only {known}."
        )

    def _check_subscriber(self, request: Request) -> None:
        """Raise MissingName without a name, and Refused for another name than before."""
        subscriber = Subscriber(*request[:2])
        if not subscriber.destination or not subscriber.client_id:
            raise MissingName("A request lacks the destination or the client id.")
        number = subscriber.client_id
        is_number = number.isascii() and number.isdigit() and len(number) <= _ID_DIGITS
        if not is_number or int(number) > _LARGEST_ID:
            raise MissingName(f"Client id {number[:20]!r} is not a number up to {_LARGEST_ID}.")
        if self._subscriber not in (None, subscriber):
            raise Refused("A connection serves one client id of one destination.")

    def _subscribed(self) -> SubscriberFeed:
        if self._feed is None:
            raise Refused("A request came before the subscription.")
        return self._feed

    def _idle(self) -> None:
        self._check()
        if self._feed is not None:
            self._feed.keep()

    def _check(self) -> None:
        if self._stop.is_set():
            raise Closed("the server stops")
        if self._displaced.is_set():
            raise Displaced("A newer connection has subscribed with this client id.")

    def _is_interrupted(self) -> bool:
        return self._stop.is_set() or self._displaced.is_set() or self._channel.is_gone()

    def _refuse(self, exc: Refused | ClientError) -> None:
        """Log, count and answer an error."""
        reason = exc.code if isinstance(exc, ClientError) else type(exc).__name__
        number = Refused.number if isinstance(exc, ClientError) else exc.number
        metrics.CANAL_REFUSED.labels(reason).inc()
        _log.warning("canal_refused", peer=self._peer, error=str(exc), **self._names())
        self._answer(refused(number, str(exc)))

    def _answer(self, packet: bytes) -> None:
        with suppress(Closed):
            self._channel.send(packet)

    def _release(self) -> None:
        if self._feed is not None:
            self._feed.close()
        if self._subscriber is not None and self._claim is not None:
            self._claims.release(self._subscriber, self._claim)

    def _names(self) -> dict[str, str]:
        return {} if self._subscriber is None else self._subscriber._asdict()


def _has(login: ClientLogin, password: SecretStr, seeds: bytes) -> bool:
    return is_right(login.password, password.get_secret_value(), seeds)

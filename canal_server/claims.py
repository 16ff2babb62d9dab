"""Decides which connection serves a client id of a destination: the newest one."""

import threading
from typing import Final, NamedTuple, Protocol

from canal_server.errors import Displaced, TooMany

_RELEASE_SECONDS: Final = 15.0


class Subscriber(NamedTuple):
    """A destination and a client id, which identify a position."""

    destination: str
    client_id: str


class Holder(Protocol):
    """The connection that serves a client id of a destination."""

    def displace(self) -> None:
        """Request the connection to end, because a newer one serves this subscriber.
        Thread-safe.
        """


class Claim:
    """The right of one connection to serve a client id."""

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        self.ended = threading.Event()


class Claims:
    """The rights of all connections of this server to serve client ids. Thread-safe."""

    def __init__(self) -> None:
        self._claims: dict[Subscriber, Claim] = {}
        self._lock = threading.Lock()

    def take(self, subscriber: Subscriber, holder: Holder) -> Claim:
        """Return the right to serve a subscriber, after the former connection has ended its feed.

        The method requests the former connection to end. So a client that connects again is served
        even if a broken network keeps its former connection open. Raises TooMany if the former
        connection does not end in time, Displaced if a newer connection arrived meanwhile.
        """
        claim = Claim(holder)
        with self._lock:
            former = self._claims.get(subscriber)
            self._claims[subscriber] = claim
        if former is not None:
            former.holder.displace()
            if not former.ended.wait(_RELEASE_SECONDS):
                self.release(subscriber, claim)
                raise TooMany(f"The former connection of {subscriber} did not end. Connect again.")
        with self._lock:
            if self._claims.get(subscriber) is claim:
                return claim
        claim.ended.set()
        raise Displaced(f"Another connection serves client id {subscriber.client_id}.")

    def release(self, subscriber: Subscriber, claim: Claim) -> None:
        """Give up a right, after the connection's feed is closed."""
        claim.ended.set()
        with self._lock:
            if self._claims.get(subscriber) is claim:
                del self._claims[subscriber]

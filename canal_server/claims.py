"""Which connection serves a client id of a destination: the newest one."""

import threading
from typing import Final, NamedTuple, Protocol

from canal_server.errors import Displaced, TooMany

_RELEASE_SECONDS: Final = 15.0


class Subscriber(NamedTuple):
    """A client id of a destination: the owner of a position."""

    destination: str
    client_id: str


class Holder(Protocol):
    """The connection that serves a client id of a destination."""

    def displace(self) -> None:
        """End soon: a newer connection serves this subscriber. Thread-safe."""


class Claim:
    """The claim of one connection to serve a client id."""

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        self.ended = threading.Event()


class Claims:
    """The claims of all connections of this server. Thread-safe."""

    def __init__(self) -> None:
        self._claims: dict[Subscriber, Claim] = {}
        self._lock = threading.Lock()

    def take(self, subscriber: Subscriber, holder: Holder) -> Claim:
        """Return the claim to a subscriber, after the connection that had it has ended its feed.

        A client that connects again must not wait for the end of a connection that a broken
        network holds open. Raises TooMany if that connection does not end in time, Displaced if
        a still newer one came meanwhile.
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
        """End a claim: its feed is closed."""
        claim.ended.set()
        with self._lock:
            if self._claims.get(subscriber) is claim:
                del self._claims[subscriber]

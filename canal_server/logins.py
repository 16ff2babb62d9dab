"""Limits the number of connections, separately before and after the login."""

import threading
from collections import Counter
from typing import Protocol

from canal_server.errors import TooMany


class Newcomer(Protocol):
    """A connection that has not logged in."""

    def turn_away(self) -> None:
        """Close the connection immediately. Thread-safe."""


class Logins:
    """The connections of this server, before and after their login. Thread-safe.

    Connections that have not logged in have a separate limit. If it is exceeded, the oldest one of
    the address with most of them is closed. So clients can log in while others hold idle
    connections.
    """

    def __init__(self, most_clients: int, most_newcomers: int) -> None:
        self._most_clients = most_clients
        self._most_newcomers = most_newcomers
        self._newcomers: dict[Newcomer, str] = {}
        self._clients: set[Newcomer] = set()
        self._ending: set[Newcomer] = set()
        self._lock = threading.Lock()

    def come(self, newcomer: Newcomer, address: str) -> None:
        """Record a new connection from an address.

        Raises TooMany if the largest number of clients is logged in, or if too many of the
        connections that `turn_away` closed have not ended yet.
        """
        with self._lock:
            self._check_clients()
            if len(self._ending) >= self._most_newcomers:
                raise TooMany("Too many connections that have not logged in. Connect again.")
            if len(self._newcomers) >= self._most_newcomers:
                self._turn_one_away()
            self._newcomers[newcomer] = address

    def log_in(self, newcomer: Newcomer) -> None:
        """Record that a client has sent the right password.

        Raises TooMany if `turn_away` has closed the connection, or if the largest number of clients
        is logged in.
        """
        with self._lock:
            if newcomer in self._ending:
                raise TooMany("Too many connections that have not logged in. Connect again.")
            self._check_clients()
            self._newcomers.pop(newcomer, None)
            self._clients.add(newcomer)

    def leave(self, newcomer: Newcomer) -> None:
        """Remove a connection that ends."""
        with self._lock:
            self._newcomers.pop(newcomer, None)
            self._clients.discard(newcomer)
            self._ending.discard(newcomer)

    def _check_clients(self) -> None:
        if len(self._clients) >= self._most_clients:
            raise TooMany(f"The server has {len(self._clients)} connections, its limit.")

    def _turn_one_away(self) -> None:
        ((address, _),) = Counter(self._newcomers.values()).most_common(1)
        oldest = next(each for each, its in self._newcomers.items() if its == address)
        del self._newcomers[oldest]
        self._ending.add(oldest)
        oldest.turn_away()

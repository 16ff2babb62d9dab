"""Limits the time of each phase of a request and the number of open connections, so that idle
clients cannot block others.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

KEEP_ALIVE_SECONDS: Final = 5
"""Time limit in seconds for an idle connection between two requests."""
HANDSHAKE_SECONDS: Final = 10.0
"""Time limit in seconds from the opening of a connection to the end of the TLS handshake."""
HEAD_SECONDS: Final = 10.0
"""Time limit in seconds for the head of a request. It begins when the connection is opened, or with
the first byte of a further request.
"""
WRITE_SECONDS: Final = 30.0
"""A client that reads no byte of an answer for this many seconds is disconnected."""

MOST_CONNECTIONS: Final = 500
"""Largest number of open connections.

Beyond it the admin closes the connections that have waited longest for their client, so a new
client always gets an answer.
"""
_ROOM: Final = 50
"""Number of connections that are closed together, so that not every further connection starts a
search.
"""
_WAITS_FOR_CLIENT: Final = frozenset({h11.IDLE, h11.SEND_BODY})


class TimedProtocol(H11Protocol):
    """uvicorn's protocol for HTTP/1.1 with the time limits of this module.

    uvicorn itself ends only connections that are idle after an answer.
    """

    since_s = 0.0
    """Monotonic time in seconds at which the connection was opened or its last answer ended."""
    _head: asyncio.TimerHandle | None = None
    _write: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Start the time limit of the request head; abort other idle connections if needed."""
        super().connection_made(transport)
        self.since_s = self.loop.time()
        self._time_head()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Start or end the time limit of the request head, as the received bytes require."""
        super().data_received(data)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel both time limits."""
        self._stop_head()
        self._stop_write()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Record the time at which the connection became idle."""
        super().on_response_complete()
        self.since_s = self.loop.time()

    def pause_writing(self) -> None:
        """Abort the connection if the client reads nothing for WRITE_SECONDS."""
        super().pause_writing()
        if self._write is None:
            self._write = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the time limit of writing: the client reads again."""
        self._stop_write()
        super().resume_writing()

    def _make_room(self) -> None:
        """Close connections that wait for their clients, the oldest first, until no more than
        MOST_CONNECTIONS are left.
        """
        if len(self.connections) <= MOST_CONNECTIONS:
            return
        present = [
            each
            for each in self.connections
            if isinstance(each, TimedProtocol) and not each.transport.is_closing()
        ]
        waiting = sorted(
            (each for each in present if each.conn.their_state in _WAITS_FOR_CLIENT),
            key=lambda each: each.since_s,
        )
        for each in (
            waiting[: len(present) - MOST_CONNECTIONS + _ROOM]
            if len(present) > MOST_CONNECTIONS
            else ()
        ):
            each.transport.abort()

    def _time_head(self) -> None:
        """Start the timer for a request's headers. Further header bytes do not restart it."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_head()
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        self._head = None
        if self.conn.their_state is h11.IDLE:
            self.timeout_keep_alive_handler()

    def _stop_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _stop_write(self) -> None:
        if self._write is not None:
            self._write.cancel()
            self._write = None


@contextmanager
def timed_handshakes(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Context manager: servers that are created inside it end TLS handshakes after
    HANDSHAKE_SECONDS.

    uvicorn does not pass this limit on, and asyncio's own limit is 60 s.
    """
    create = loop.create_server

    def timed(*arguments: Any, **more: Any) -> Any:
        if more.get("ssl") is not None:
            more["ssl_handshake_timeout"] = HANDSHAKE_SECONDS
        return create(*arguments, **more)

    loop.create_server = timed  # type: ignore[method-assign]
    try:
        yield
    finally:
        loop.create_server = create  # type: ignore[method-assign]

"""Answers the parent's requests in a worker over a socket, and detects the end of the parent.

A request is a line `NUMBER WHAT`. An answer is a line `NUMBER ok|failed LENGTH`, and LENGTH bytes.
"""

import json
import select
import socket
from collections.abc import Callable
from typing import Final

from relay.errors import RelayError
from relay.telemetry import Answers
from relay.telemetry.metrics import render
from relay.threads import Guard, RelayThread

HEALTH: Final = "health"
READINESS: Final = "readiness"
STATUSES: Final = "statuses"
METRICS: Final = "metrics"
OK: Final = b"ok"
_FAILED: Final = b"failed"
_KIND: Final = "parent-link"
_WATCH_KIND: Final = "parent-watch"
_NOT_STARTED: Final = Answers(
    unhealthy=lambda: None,
    unready=lambda: "It cannot reach ZooKeeper yet, and tries again.",
    statuses=list,
)


class ParentLink:
    """Answers the parent's requests for the worker's health, status and metrics.

    `address` is that of the parent's HTTP server. `parent_ended` is called when the parent's end of
    the socket is closed, because the parent has died. A separate thread detects that, because an
    answer can take long.
    """

    def __init__(
        self, connection: socket.socket, address: str, parent_ended: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._address = address
        self._parent_ended = parent_ended
        self._answers = _NOT_STARTED
        self._thread = RelayThread(_KIND, "", self._serve)
        self._watch = RelayThread(_WATCH_KIND, "", self._wait_for_end)

    def start(self) -> None:
        """Begin to answer requests."""
        self._watch.start()
        self._thread.start()

    def open(self, answers: Answers) -> str:
        """Answer requests with `answers` from now on; return the URL of the parent's HTTP
        server.
        """
        self._answers = answers
        return self._address

    def close(self) -> None:
        """Do nothing: requests are answered until the process ends."""

    def _serve(self) -> None:
        try:
            with self._connection.makefile("rb") as questions:
                for question in questions:
                    self._connection.sendall(self._answer(question))
        except OSError:
            pass  # the parent ended before it read the answer

    def _wait_for_end(self) -> None:
        """Wait until the parent has closed its end of the socket. Unread requests in the socket do
        not hide that.
        """
        hang_up = select.poll()
        hang_up.register(self._connection, select.POLLHUP)
        hang_up.poll()
        self._parent_ended()

    def _answer(self, question: bytes) -> bytes:
        number, _, what = question.strip().partition(b" ")
        outcome, body = _FAILED, b""
        guard = Guard(_KIND)
        try:
            with guard:
                outcome, body = OK, self._body(what.decode())
        except RelayError as exc:
            body = exc.reason.encode()
        if guard.error is not None:
            body = repr(guard.error).encode()
        return b"%s %s %d\n%s" % (number, outcome, len(body), body)

    def _body(self, what: str) -> bytes:
        """Return the body of an answer: a document, or a sentence about a problem, empty if there
        is none.
        """
        answers = self._answers
        match what:
            case "health":
                return (answers.unhealthy() or "").encode()
            case "readiness":
                return (answers.unready() or "").encode()
            case "statuses":
                return json.dumps(list(answers.statuses())).encode()
            case "metrics":
                return render()
            case _:
                raise ValueError(f"unknown request: {what}")

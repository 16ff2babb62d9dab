"""Requests of the session: each waits for a connection and for its answer, up to a deadline."""

from __future__ import annotations  # IAsyncResult is generic only in the stubs

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from kazoo.exceptions import UnimplementedError
from kazoo.interfaces import IAsyncResult

from relay.deadline import Deadline
from relay.errors import StoreRefused, StoreUnreachable
from relay.zk.batched_requests import (
    READS_PER_BATCH,
    Answer,
    Found,
    ReadBatch,
    send_multi_read,
)
from relay.zk.client import Client
from relay.zk.errors import translated

T = TypeVar("T")

# Pause before a repeated request. A connected server may refuse requests for a moment: it is
# throttled or read-only, or the session moves to another server.
_READ_AGAIN_SECONDS: Final = 0.05


class Requests:
    """Sends requests of a client. Each is answered within `answer_seconds` or raises
    StoreUnreachable.

    `send` starts a request in kazoo and returns its pending answer.
    """

    def __init__(self, client: Client, answer_seconds: float) -> None:
        self._client = client
        self._answer_seconds = answer_seconds
        self._has_multi_read = True

    def read(self, path: str, send: Callable[[], Answer[T]], synced: bool) -> T:
        """Return the answer; repeat the request while the connection drops."""
        deadline = Deadline.after(self._answer_seconds)
        while True:
            try:
                return self.ask(
                    path, (lambda: self._after_sync(path, send)) if synced else send, deadline
                )
            except StoreUnreachable:
                if deadline.passed:
                    raise
                self._client.stopped.wait(min(_READ_AGAIN_SECONDS, deadline.remaining_s))

    def read_all(
        self, paths: Sequence[str], send: Callable[[str], IAsyncResult[T]], synced: bool
    ) -> list[T | None]:
        """Return the answers to many reads, in the order of their paths; None for missing nodes."""
        found: list[T | None] = []
        for first in range(0, len(paths), READS_PER_BATCH):
            some = paths[first : first + READS_PER_BATCH]
            found += self.read(some[0], partial(_sent, some, send), synced)
        return found

    def read_nodes(self, paths: Sequence[str], synced: bool, *, large: bool) -> list[Found | None]:
        """Return many nodes, in the order of their paths; None for missing ones.

        One request reads up to 100 of them, unless they are large: the server would hold all their
        values in one answer. Servers before ZooKeeper 3.6 have no such request, so each node is
        then read by its own request.
        """
        if not large and self._has_multi_read:
            try:
                return self._read_together(paths, synced)
            except StoreRefused as exc:
                if not isinstance(exc.__cause__, UnimplementedError):
                    raise
                self._has_multi_read = False
        return self.read_all(paths, self._client.kazoo.get_async, synced)

    def _read_together(self, paths: Sequence[str], synced: bool) -> list[Found | None]:
        found: list[Found | None] = []
        for first in range(0, len(paths), READS_PER_BATCH):
            some = paths[first : first + READS_PER_BATCH]
            found += self.read(some[0], partial(send_multi_read, self._client.kazoo, some), synced)
        return found

    def ask(self, path: str, send: Callable[[], Answer[T]], deadline: Deadline | None = None) -> T:
        """Return the answer of one request, which is not repeated.

        Raises StoreUnreachable, NodeMissing, VersionConflict, StoreRefused.
        """
        deadline = deadline or Deadline.after(self._answer_seconds)
        self.await_connection(deadline)
        with translated(path):
            answer = send().get(timeout=deadline.remaining_s)
        self._client.answered()
        return answer

    def await_connection(self, deadline: Deadline) -> None:
        """Wait until the session is connected. Raises StoreUnreachable at the deadline."""
        if not self._client.connected.wait(deadline.remaining_s):
            raise self._client.unreachable()

    def _after_sync(self, path: str, send: Callable[[], Answer[T]]) -> Answer[T]:
        # Both requests are sent on one connection, in order, without waiting in between: a
        # reconnect between them fails both.
        self._client.kazoo.sync_async(path)
        return send()


def _sent(paths: Sequence[str], send: Callable[[str], IAsyncResult[T]]) -> ReadBatch[T]:
    return ReadBatch(map(send, paths))

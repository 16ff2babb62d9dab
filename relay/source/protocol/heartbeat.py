"""Polls a server by SQL to find out whether it answers, its identity, and its executed
transactions.
"""

import threading
from dataclasses import replace
from time import monotonic, time

from relay.errors import RelayError, SourceUnreachable
from relay.model.failover import ServerRole, ServerSeen
from relay.settings import SourceSettings
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

# Heartbeats are made by a timer and before every start of a stream; two close together count once.
_COUNTS_AFTER = 0.8


class ServerWatch:
    """Reads the state of one server over its own connection; several threads may call it."""

    def __init__(self, role: ServerRole, settings: SourceSettings, interval_seconds: float) -> None:
        """A poll fails if it takes longer than `interval_seconds`, at least one second."""
        longest = min(settings.connect_timeout_seconds, max(1.0, interval_seconds))
        self._settings = settings.model_copy(
            update={"connect_timeout_seconds": longest, "read_timeout_seconds": longest}
        )
        self._interval_s = interval_seconds
        self._connection: SourceConnection | None = None
        self._counted_at_s = -interval_seconds
        self._lock = threading.Lock()
        self.seen = ServerSeen(role, f"{settings.host}:{settings.port}")

    def poll(self) -> ServerSeen:
        """Query the server, and return its state. Errors of the server are part of the state and
        not raised.
        """
        with self._lock:
            try:
                facts = self._asked()
            except SourceUnreachable as exc:
                self._failed(exc)
            except RelayError as exc:
                # It is there and refuses: that is no reason to leave it.
                self.seen = replace(self.seen, answers=False, failures=0, error=exc.reason)
                self._hang_up()
            else:
                self.seen = _seen(self.seen, facts)
            return self.seen

    def close(self) -> None:
        """Close the connection. A later poll opens a new one."""
        with self._lock:
            self._hang_up()

    def _asked(self) -> ServerFacts:
        if self._connection is not None:
            try:
                return read_server_facts(self._connection)
            except SourceUnreachable:
                # the connection may be old or lead to a former server: the next try opens a new one
                self._hang_up()
        self._connection = SourceConnection(self._settings)
        return read_server_facts(self._connection)

    def _failed(self, error: SourceUnreachable) -> None:
        self._hang_up()
        counts = monotonic() - self._counted_at_s >= _COUNTS_AFTER * self._interval_s
        if counts:
            self._counted_at_s = monotonic()
        self.seen = replace(
            self.seen, answers=False, failures=self.seen.failures + counts, error=error.reason
        )

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _seen(before: ServerSeen, facts: ServerFacts) -> ServerSeen:
    return ServerSeen(
        before.role,
        before.place,
        answers=True,
        seen_ms=int(time() * 1000),
        server_uuid=facts.server_uuid,
        server_id=facts.server_id,
        mariadb=facts.mariadb,
        gtids=facts.has_gtids,
        executed=facts.executed,
        purged=facts.purged,
        binlog_state=facts.binlog_state,
        strict=facts.gtids_strict,
    )

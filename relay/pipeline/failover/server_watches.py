"""Polls the servers that an instance may read from, all at the same time."""

from concurrent.futures import ThreadPoolExecutor

from relay.errors import ResourcesExhausted
from relay.model.failover import ServerRole, ServerSeen
from relay.model.standby_transactions import errant_in_domains, errant_transactions
from relay.settings import FailoverSettings, SourceSettings
from relay.source import ServerWatch


class ServerWatches:
    """Polls the master and the standby of a source.

    settings  role of a server → how to connect to it
    errant    a text with the transactions that were executed directly on the server that the relay
              does not read, instead of arriving there by replication; "": no such transaction
    """

    def __init__(self, source: SourceSettings, rules: FailoverSettings) -> None:
        standby = source.at_standby()
        self.settings = {ServerRole.MASTER: source} | (
            {ServerRole.STANDBY: standby} if standby is not None else {}
        )
        self.errant = ""
        self._watches = [
            ServerWatch(role, each, rules.detecting_interval_seconds)
            for role, each in self.settings.items()
        ]
        self._seen: tuple[ServerSeen, ...] = ()

    def poll(self) -> tuple[ServerSeen, ...]:
        """Query all servers at the same time; return one answer for each. An answer may say that
        the server is unreachable.

        A server that does not answer does not delay the answers of others. Raises
        ResourcesExhausted.
        """
        try:
            with ThreadPoolExecutor(len(self._watches), thread_name_prefix="heartbeat") as pool:
                return tuple(pool.map(ServerWatch.poll, self._watches))
        except RuntimeError as exc:
            raise ResourcesExhausted(
                f"No thread can be started for the heartbeats ({exc})."
            ) from exc

    def compare(self, followed: ServerRole, seen: tuple[ServerSeen, ...]) -> None:
        """Compare the answers `seen` with those of the previous poll, and set `errant`.

        `followed` is the server that the relay reads. A transaction is errant if the other server
        had it already at the previous poll, and `followed` does not have it now.
        """
        before = {each.role: each for each in self._seen}
        self._seen = seen
        for now in seen:
            other = before.get(now.role.other)
            if now.role is followed and now.answers and other is not None and other.answers:
                self.errant = _errant(other, now)

    def close(self) -> None:
        """Close the connections to all watched servers."""
        for watch in self._watches:
            watch.close()


def _errant(other: ServerSeen, followed: ServerSeen) -> str:
    if other.mariadb:
        return ",".join(
            errant_in_domains(other.binlog_state, followed.binlog_state, followed.server_id)
        )
    return str(errant_transactions(other.executed, followed.executed, followed.server_uuid))

"""Whether a server has all that was published, and still has the binlog of all that was not: arithmetic on GTID sets.

A server that accepts a dump proves nothing: MySQL skips what the relay says it has, whether or not the server has it, and MariaDB
takes a number for reached when it has a greater one. So the sets themselves are compared, before the first row.
"""

from dataclasses import dataclass
from types import MappingProxyType

from relay.model.gtid import GtidSet


@dataclass(frozen=True, slots=True)
class StandbyProof:
    """`lacking` was published and is not there: `behind` transactions. `gone` was never published and is purged there."""

    lacking: GtidSet
    behind: int
    gone: GtidSet

    @property
    def holds(self) -> bool:
        return self.lacking.empty and self.gone.empty


def standby_proof(published: str, split_gtid: str, executed: str, purged: str, accepted: str = "") -> StandbyProof:
    """Compare what was published, a half-published transaction included, with a server's sets; `accepted` losses count as there."""
    held, given_up = GtidSet.parse(executed), GtidSet.parse(accepted)
    wanted = GtidSet.parse(published).with_gtid(split_gtid)
    lacking = wanted.without(held).without(given_up)
    gone = GtidSet.parse(purged).without(GtidSet.parse(published)).without(given_up)
    return StandbyProof(lacking, transactions_ahead(lacking, held), gone)


def transactions_ahead(lacking: GtidSet, held: GtidSet) -> int:
    """Count the transactions; in a MariaDB domain the difference of the numbers, which rise one by one."""
    numbered = sum(last - first + 1 for intervals in lacking.intervals.values() for first, last in intervals)
    domains = sum(last[1] - held.domains.get(domain, (0, 0))[1] for domain, last in lacking.domains.items())
    return numbered + domains


def without_lost(published: GtidSet, executed: GtidSet) -> GtidSet:
    """What of the published set a server has: where reading goes on there after a loss was accepted."""
    lost = published.without(executed)
    domains = {domain: executed.domains.get(domain) if domain in lost.domains else last for domain, last in published.domains.items()}
    kept = MappingProxyType({domain: last for domain, last in domains.items() if last is not None})
    return GtidSet(published.without(lost).intervals, kept)


def errant_transactions(other: str, followed: str, followed_uuid: str) -> GtidSet:
    """MySQL transactions of one server that the followed one does not have and did not make itself: somebody wrote past replication.

    `other` must have been read before `followed`, or what replication carried in between would be named.
    """
    foreign = GtidSet.parse(other).without(GtidSet.parse(followed))
    return GtidSet(MappingProxyType({source: held for source, held in foreign.intervals.items() if source.uuid != followed_uuid}))


def errant_in_domains(other: str, followed: str, followed_id: int) -> tuple[str, ...]:
    """The same for MariaDB, of the two servers' gtid_binlog_state: the newest id of each domain and server that the followed one lacks."""
    theirs, ours = binlog_state(other), binlog_state(followed)
    ahead = (place for place, number in theirs.items() if place[1] != followed_id and number > ours.get(place, 0))
    return tuple(f"{domain}-{server}-{theirs[domain, server]}" for domain, server in sorted(ahead))


def binlog_state(text: str) -> dict[tuple[int, int], int]:
    """Read gtid_binlog_state: the newest sequence number of every domain and server."""
    parts = (part.strip().split("-") for part in text.split(",") if part.strip())
    return {(int(domain), int(server)): int(number) for domain, server, number in parts}

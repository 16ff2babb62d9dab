"""Whether a server has all that was published, and still has the binlog of all that was not:
arithmetic on GTID sets.

A server that accepts a dump proves nothing: MySQL skips what the relay says it has, whether or not
the server has it, and MariaDB takes a number for reached when it has a greater one. So the sets
themselves are compared, before the first row.
"""

from dataclasses import dataclass
from types import MappingProxyType

from relay.model.positions.executed import Executed, binlog_state
from relay.model.positions.gtid import GtidSet


@dataclass(frozen=True, slots=True)
class StandbyTransactions:
    """What keeps a server from being read next.

    `lacking` was published and is not there: `behind` counts the transactions that may still
    arrive, `passed` are those that cannot. `gone` was never published and is purged there.
    """

    lacking: GtidSet
    behind: int
    gone: GtidSet
    passed: GtidSet

    @property
    def holds(self) -> bool:
        """Return True if the server can be read next without losing a transaction."""
        return self.lacking.empty and self.gone.empty


def standby_transactions(
    published: str, split_gtid: str, held: Executed, purged: str, accepted: str = ""
) -> StandbyTransactions:
    """Compare what was published, a half-published transaction included, with what a server has.

    `accepted` losses count as there.
    """
    given_up = GtidSet.parse(accepted)
    lacking = without_accepted(
        held.lacking(GtidSet.parse(published).with_gtid(split_gtid)), given_up
    )
    gone = GtidSet.parse(purged).without(GtidSet.parse(published)).without(given_up)
    passed = held.passed_of(lacking)
    return StandbyTransactions(
        lacking, transactions_ahead(lacking.without(passed), held), gone, passed
    )


def without_accepted(lacking: GtidSet, accepted: GtidSet) -> GtidSet:
    """Return what is lacking and was not accepted as lost.

    In a MariaDB domain only an id of the same server accepts a loss.
    """
    domains = {
        domain: (server, number)
        for domain, (server, number) in lacking.domains.items()
        if (given_up := accepted.domains.get(domain)) is None
        or given_up[0] != server
        or given_up[1] < number
    }
    return GtidSet(lacking.without(accepted).intervals, MappingProxyType(domains))


def transactions_ahead(lacking: GtidSet, held: Executed) -> int:
    """Count the transactions.

    In a MariaDB domain by the difference of the numbers, which is one at least.
    """
    numbered = sum(
        last - first + 1 for intervals in lacking.intervals.values() for first, last in intervals
    )
    domains = sum(
        max(1, number - held.newest_of(domain, server))
        for domain, (server, number) in lacking.domains.items()
    )
    return numbered + domains


def errant_transactions(other: str, followed: str, followed_uuid: str) -> GtidSet:
    """MySQL transactions of one server that the followed one does not have and did not make itself:
    somebody wrote past replication.

    `other` must have been read before `followed`, or what replication carried in between would be
    named.
    """
    foreign = GtidSet.parse(other).without(GtidSet.parse(followed))
    return GtidSet(
        MappingProxyType(
            {
                source: held
                for source, held in foreign.intervals.items()
                if source.uuid != followed_uuid
            }
        )
    )


def errant_in_domains(other: str, followed: str, followed_id: int) -> tuple[str, ...]:
    """The same for MariaDB, of the two servers' gtid_binlog_state: the newest id of each domain and
    server that the followed one lacks.
    """
    theirs, ours = binlog_state(other), binlog_state(followed)
    ahead = (
        place
        for place, number in theirs.items()
        if place[1] != followed_id and number > ours.get(place, 0)
    )
    return tuple(f"{domain}-{server}-{theirs[domain, server]}" for domain, server in sorted(ahead))

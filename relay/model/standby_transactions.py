"""Checks by GTID sets that a server has every published transaction, and the binlog of every
unpublished one. A server that accepts a dump proves nothing: MySQL skips the transactions that
the relay names, even if the server lacks them. MariaDB treats a number as reached when it has a
greater one. So the sets themselves are compared, before the first row.
"""

from dataclasses import dataclass
from types import MappingProxyType

from relay.model.positions.executed import Executed, binlog_state
from relay.model.positions.gtid import GtidSet


@dataclass(frozen=True, slots=True)
class StandbyTransactions:
    """The transactions that prevent a switch to a server.

    `lacking` were published and are missing there: `behind` counts those that may still arrive,
    `passed` are those that cannot. `gone` were never published and are purged there.
    """

    lacking: GtidSet
    behind: int
    gone: GtidSet
    passed: GtidSet


def standby_transactions(
    published: str, split_gtid: str, held: Executed, purged: str, accepted: str = ""
) -> StandbyTransactions:
    """Compare the published transactions, including a half-published one, with those of a server.

    `accepted` losses count as present.
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
    """Return the lacking transactions whose loss was not accepted.

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
    """Return the number of transactions. In a MariaDB domain it is the difference of the numbers,
    at least one.
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
    """Return MySQL transactions of one server that the followed server neither has nor created:
    writes that bypassed replication.

    Read `other` before `followed`; otherwise transactions replicated in between would be included.
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
    """Return the errant transactions of a MariaDB server, from both servers' gtid_binlog_state: the
    newest id of each domain and server that the followed one lacks.
    """
    theirs, ours = binlog_state(other), binlog_state(followed)
    ahead = (
        place
        for place, number in theirs.items()
        if place[1] != followed_id and number > ours.get(place, 0)
    )
    return tuple(f"{domain}-{server}-{theirs[domain, server]}" for domain, server in sorted(ahead))

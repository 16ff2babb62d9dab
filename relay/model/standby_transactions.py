"""Checks by GTID sets whether a server has every published transaction, and the binlog of every
unpublished one. The relay calls it before it switches to a standby.

If a server accepts a dump, that proves nothing. MySQL omits the transactions that the relay names,
even if the server lacks them. MariaDB treats a number as reached if it has a greater one. So the
sets are compared before the first row.
"""

from dataclasses import dataclass
from types import MappingProxyType

from relay.model.positions.executed import Executed, binlog_state
from relay.model.positions.gtid import GtidSet


@dataclass(frozen=True, slots=True)
class StandbyTransactions:
    """The transactions that prevent a switch to a server.

    lacking  published, and missing on the server
    behind   number of those in `lacking` that may still arrive
    gone     not published, and purged on the server
    passed   those in `lacking` that can no longer arrive
    """

    lacking: GtidSet
    behind: int
    gone: GtidSet
    passed: GtidSet


def standby_transactions(
    published: str, split_gtid: str, held: Executed, purged: str, accepted: str = ""
) -> StandbyTransactions:
    """Compare the published transactions, including a half-published one, with those of a server.

    published   GTID set of the complete ones
    split_gtid  GTID of a half-published one, "" without one
    held        transactions of the server
    purged      GTID set that the server has purged
    accepted    GTID set whose loss was accepted; it counts as present
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

    In a MariaDB domain, an accepted id counts only for the same server id.
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
    """Return the number of transactions in `lacking`. For a MariaDB domain it is the difference of
    the sequence numbers, at least one.
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
    """Return the MySQL transactions of a server that its master neither has nor created: writes
    that bypassed replication.

    other          executed set of the server; read it first, or transactions replicated in between
                   are included
    followed       executed set of the master
    followed_uuid  server_uuid of the master
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
    """Return the errant transactions of a MariaDB server: the newest ids of each domain and server
    that its master lacks.

    `other` and `followed` are the gtid_binlog_state of the server and of its master, and
    `followed_id` is the server_id of the master.
    """
    theirs, ours = binlog_state(other), binlog_state(followed)
    ahead = (
        place
        for place, number in theirs.items()
        if place[1] != followed_id and number > ours.get(place, 0)
    )
    return tuple(f"{domain}-{server}-{theirs[domain, server]}" for domain, server in sorted(ahead))

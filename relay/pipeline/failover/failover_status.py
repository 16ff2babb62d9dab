"""Writes the state of an instance's servers to ZooKeeper and to the metrics."""

from time import monotonic, time
from typing import Final

import structlog

from relay.errors import RelayError
from relay.ha import Decision, Situation
from relay.model.failover import ServerSeen
from relay.model.positions.gtid import GtidSet
from relay.model.standby_transactions import StandbyTransactions, standby_transactions
from relay.state import FailoverStore, FailoverView, ServerView
from relay.telemetry.metrics import SERVER_ANSWERS, SERVER_BEHIND, SERVER_ERRANT, SERVER_FOLLOWED

_AGAIN_SECONDS: Final = 5.0
"""An unchanged view is written again after this many seconds, so that its age shows whether a
relay still updates it.
"""

_log = structlog.stdlib.get_logger(__name__)


def failover_view(
    situation: Situation, decision: Decision, orders: int, errant: str
) -> FailoverView:
    """Return the ZooKeeper document about both servers of a source and the decision.

    situation  what is known about the servers
    decision   what the relay does
    orders     number of the operators' orders that were read
    errant     a text with the transactions that only one of the servers has; "": no such
               transaction
    """
    return FailoverView(
        followed=situation.followed.value,
        decision=decision.action.value,
        reason=decision.reason,
        code=decision.code,
        published=situation.published.gtid_set,
        orders=orders,
        servers=tuple(_server(situation, seen, errant) for seen in situation.servers),
        updated_ms=int(time() * 1000),
    )


class FailoverReport:
    """Writes the state of the servers of one source when it changes.

    `source` is the name of the source in a group; "": the instance has a single source.
    """

    def __init__(self, instance: str, source: str, store: FailoverStore) -> None:
        self._instance = instance
        self._source = source
        self._store = store
        self._told: tuple[object, ...] = ()
        self._told_at_s = 0.0

    def show(self, view: FailoverView) -> bool:
        """Set the gauges, and return whether `view` differs from the last one.

        The view is written to ZooKeeper if it differs, or if the last write was 5 seconds ago or
        earlier. An error of ZooKeeper is logged.
        """
        _show_gauges(self._instance, self._source, view)
        told = (
            view.decision,
            view.reason,
            view.followed,
            view.orders,
            *((each.answers, each.errant) for each in view.servers),
        )
        fresh = told != self._told
        if fresh or monotonic() - self._told_at_s >= _AGAIN_SECONDS:
            try:
                self._store.put_view(self._instance, view)
                self._told, self._told_at_s = told, monotonic()
            except RelayError as exc:
                _log.warning(
                    "failover_status_not_written",
                    instance=self._instance,
                    source=self._source,
                    reason=exc.reason,
                )
        return fresh


def _show_gauges(instance: str, source: str, view: FailoverView) -> None:
    for server in view.servers:
        labels = instance, source, server.role
        SERVER_FOLLOWED.labels(*labels).set(server.role == view.followed)
        SERVER_ANSWERS.labels(*labels).set(server.answers)
        SERVER_BEHIND.labels(*labels).set(server.behind if server.behind >= 0 else float("nan"))
        SERVER_ERRANT.labels(*labels).set(bool(server.errant))


def _server(situation: Situation, seen: ServerSeen, errant: str) -> ServerView:
    proof = _proof(situation, seen)
    return ServerView(
        role=seen.role.value,
        place=seen.place,
        answers=seen.answers,
        failures=seen.failures,
        error="" if seen.answers else seen.error,
        server_uuid=seen.server_uuid,
        server_id=seen.server_id,
        executed=seen.executed,
        purged=seen.purged,
        behind=proof.behind if proof is not None else -1,
        lacking=str(proof.lacking) if proof is not None else "",
        gone=str(proof.gone) if proof is not None else "",
        errant=errant if seen.role is not situation.followed else "",
        seen_ms=seen.seen_ms,
    )


def _proof(situation: Situation, seen: ServerSeen) -> StandbyTransactions | None:
    """Return what a server lacks.

    The server that is being read is not checked while it answers: it has every transaction that it
    sent.
    """
    published = situation.published
    if (
        not seen.known
        or not seen.gtids
        or bool(GtidSet.parse(published.gtid_set).domains) is not seen.mariadb
    ):
        return None
    if seen.role is situation.followed and seen.is_of(published.identity):
        return standby_transactions("", "", seen.held, "")
    return standby_transactions(published.gtid_set, published.split_gtid, seen.held, seen.purged)

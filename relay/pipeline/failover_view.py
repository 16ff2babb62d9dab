"""What is told about the servers of an instance: the document for ZooKeeper, and the gauges."""

from time import time

from relay.ha import Decision, Situation
from relay.model.failover import ServerSeen
from relay.model.gtid import GtidSet
from relay.model.standby_proof import StandbyProof, standby_proof
from relay.state import FailoverView, ServerView
from relay.telemetry.metrics import SERVER_ANSWERS, SERVER_BEHIND, SERVER_ERRANT, SERVER_FOLLOWED


def failover_view(situation: Situation, decision: Decision, orders: int, errant: str) -> FailoverView:
    """Put the document together."""
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


def show_gauges(instance: str, view: FailoverView) -> None:
    """Set the gauges of both servers."""
    for server in view.servers:
        SERVER_FOLLOWED.labels(instance, server.role).set(server.role == view.followed)
        SERVER_ANSWERS.labels(instance, server.role).set(server.answers)
        SERVER_BEHIND.labels(instance, server.role).set(server.behind if server.behind >= 0 else float("nan"))
        SERVER_ERRANT.labels(instance, server.role).set(bool(server.errant))


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


def _proof(situation: Situation, seen: ServerSeen) -> StandbyProof | None:
    """What a server lacks; of the one that is read it is never asked while it answers: what it sent, it has."""
    published = situation.published
    if not seen.known or not seen.gtids or bool(GtidSet.parse(published.gtid_set).domains) is not seen.mariadb:
        return None
    if seen.role is situation.followed and seen.is_of(published.identity):
        return standby_proof("", "", seen.executed, "")
    return standby_proof(published.gtid_set, published.split_gtid, seen.executed, seen.purged)

"""What follows from a search for the last published transaction by its digests: a pure judgement,
for a switch without GTIDs.

The promise: SWITCH comes out only when exactly one place of the other server's binlog can be the
one behind what was published.
"""

from relay.ha.source_decision import Action, Decision
from relay.model.failover import ServerRole
from relay.model.records.resume_fingerprint import PublishedPlace, Sighting, Sought
from relay.model.replication import Replicating, Replication


def place_unknown(place: PublishedPlace | None, *, half: bool) -> str:
    """Why a search would prove nothing, "" where it may.

    `half` says that a part of a transaction is published.
    """
    if half:
        return (
            "A part of a transaction is published, and its rest cannot be told from another one "
            "without GTIDs."
        )
    if place is None:
        return (
            "No digests of what was published were kept: failover.switch_without_gtid was not "
            '"digest" then.'
        )
    if place.landmark is None:
        return (
            "No published transaction of this relay's time began in a later second than all "
            "before it, "
            "so none can be told from others like it."
        )
    return ""


def decide_by_digest(sought: Sought, replication: Replication, to: ServerRole) -> Decision:
    """Judge. Every way through is a row of the table in the tests."""
    if replication.unproven:
        return _stop(
            f"The digests prove nothing of the {to}: {replication.unproven}.", to, "PLACE_AMBIGUOUS"
        )
    match sought.sighting:
        case Sighting.FOUND:
            return Decision(Action.SWITCH, f"The {to} has what was published, by its digests.", to)
        case Sighting.SEVERAL:
            reason = (
                f"What was published last stands at more than one place of the {to}'s binlog, one "
                f"like the other."
            )
            return _stop(reason, to, "PLACE_AMBIGUOUS")
        case Sighting.UNPROVEN:
            reason = (
                f"The {to}'s binlog begins too shortly before what was published to tell it from "
                f"others like it."
            )
            return _stop(reason, to, "PLACE_AMBIGUOUS")
        case Sighting.OTHER:
            return _stop(
                f"The {to} has other transactions in the place of published ones, by their "
                f"digests.",
                to,
                "STANDBY_DIVERGED",
            )
        case Sighting.MISSING:
            return _missing(sought.lacking, replication.state, to)


def _missing(lacking: int, state: Replicating, to: ServerRole) -> Decision:
    noun = "transaction" if lacking == 1 else "transactions"
    behind = f"{to} is at least {lacking} {noun} behind, by their digests"
    if state is Replicating.ENDED:
        return _stop(f"The {behind}, and has nothing more to apply.", to, "STANDBY_LACKS")
    if state is Replicating.HALTED:
        behind += ", and its replication is stopped"
    elif state is Replicating.UNKNOWN:
        behind += "; whether it still replicates the relay's account may not ask"
    return Decision(Action.WAIT, behind, to, behind=lacking)


def _stop(reason: str, to: ServerRole, code: str) -> Decision:
    return Decision(Action.STOP, reason, to, code=code)

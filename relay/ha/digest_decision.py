"""Decides about a switch without GTIDs, from a search for the last published transaction by its
digests, without input or output.

The decision is SWITCH only if exactly one position in the other server's binlog can follow the
published transactions.
"""

from relay.ha.source_decision import Action, Decision
from relay.model.failover import ServerRole
from relay.model.records.resume_fingerprint import ResumeFingerprint, Sighting, Sought
from relay.model.replication import Replicating, Replication


def landmark_unknown(fingerprint: ResumeFingerprint | None, *, half: bool) -> str:
    """Return the reason why a search by digests cannot prove a position; "" if it can.

    fingerprint  digests of the last published transactions; None: there are none
    half         True: only a part of a transaction is published
    """
    if half:
        return (
            "A part of a transaction is published, and without GTIDs its rest cannot be identified."
        )
    if fingerprint is None:
        return (
            "No digests of the published transactions exist, because "
            'failover.switch_without_gtid was not "digest" when they were published.'
        )
    if fingerprint.landmark is None:
        return (
            "Since this relay leads the instance, no published transaction began in a later "
            "second than all earlier ones, so digests cannot distinguish transactions with "
            "equal contents."
        )
    return ""


def decide_by_digest(sought: Sought, replication: Replication, to: ServerRole) -> Decision:
    """Return the decision about a switch.

    sought       result of the search on the other server
    replication  state of the replication on the other server
    to           role of the other server
    """
    if replication.unproven:
        reason = f"Digests cannot prove which transactions the {to} has: {replication.unproven}."
        return _stop(reason, to, "PLACE_AMBIGUOUS")
    match sought.sighting:
        case Sighting.FOUND:
            return Decision(
                Action.SWITCH, f"Digests prove that the {to} has the published transactions.", to
            )
        case Sighting.SEVERAL:
            reason = (
                f"The last published transaction matches more than one position in the {to}'s "
                f"binlog."
            )
            return _stop(reason, to, "PLACE_AMBIGUOUS")
        case Sighting.UNPROVEN:
            reason = (
                f"The {to}'s binlog begins too shortly before the published transactions to "
                f"distinguish them from equal ones."
            )
            return _stop(reason, to, "PLACE_AMBIGUOUS")
        case Sighting.OTHER:
            return _stop(
                f"Digests show that the {to} has other transactions in place of published ones.",
                to,
                "STANDBY_DIVERGED",
            )
        case Sighting.MISSING:
            return _missing(sought.lacking, replication.state, to)


def _missing(lacking: int, state: Replicating, to: ServerRole) -> Decision:
    noun = "transaction" if lacking == 1 else "transactions"
    behind = f"{to} is at least {lacking} {noun} behind, as digests show"
    if state is Replicating.ENDED:
        return _stop(
            f"The {behind}, and it has applied everything that it received.", to, "STANDBY_LACKS"
        )
    if state is Replicating.HALTED:
        behind += ", and its replication is stopped"
    elif state is Replicating.UNKNOWN:
        behind += "; the relay's account has no right to read whether it still replicates"
    return Decision(Action.WAIT, behind, to, behind=lacking)


def _stop(reason: str, to: ServerRole, code: str) -> Decision:
    return Decision(Action.STOP, reason, to, code=code)

"""Decides which server an instance reads from next, without input or output.

A switch by GTID requires that the other server has all published transactions and still has the
binlog of the rest. Losses that an operator accepted are exempt. While the present server answers,
the instance leaves it only for a server that is ready.
"""

from dataclasses import dataclass
from enum import Enum

from relay.model.failover import FailoverOrders, Published, ServerRole, ServerSeen
from relay.model.positions.gtid import GtidSet
from relay.model.standby_transactions import StandbyTransactions, standby_transactions


class Action(Enum):
    """A decision: keep the present server, wait for the other server, switch to it, or stop until
    an operator acts.
    """

    STAY = "stay"
    WAIT = "wait"
    SWITCH = "switch"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class SwitchRules:
    """Settings of the decision.

    retry_threshold  consecutive failed heartbeats after which a server has failed
    automatic        whether failed heartbeats alone cause a switch
    virtual_address  whether another server at the source's address is accepted
    without_gtid     whether to switch although there are no GTIDs as a proof
    by_digest        whether such a switch requires that digests prove the position
    """

    retry_threshold: int
    automatic: bool
    virtual_address: bool = False
    without_gtid: bool = False
    by_digest: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts for a decision: both servers, the published transactions, orders and settings.

    followed          role of the server to which the position belongs
    published_before  the published set at the heartbeat before; a healthy standby has this set, but
                      rarely the present one
    streaming         whether rows arrive; False before reading begins
    """

    followed: ServerRole
    servers: tuple[ServerSeen, ...]
    published: Published
    published_before: str
    orders: FailoverOrders
    rules: SwitchRules
    streaming: bool = False

    def server(self, role: ServerRole) -> ServerSeen | None:
        """Return the last observation of the server in this role; None if it is not configured."""
        return next((seen for seen in self.servers if seen.role is role), None)

    @property
    def followed_serves(self) -> bool:
        """Return whether the server in the role `followed` answers, and is still the server to
        which the position belongs.
        """
        followed = self.server(self.followed)
        return followed is not None and followed.answers and followed.is_of(self.published.identity)


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about the source's server, and its reason.

    code           error code of a STOP
    behind         number of transactions that the other server lacks
    lacking, gone  GTIDs that would be lost; an operator must accept their loss
    """

    action: Action
    reason: str
    to: ServerRole | None = None
    code: str = ""
    behind: int = 0
    lacking: str = ""
    gone: str = ""


def followed_role(
    published: Published, servers: tuple[ServerSeen, ...], noted: ServerRole | None
) -> ServerRole:
    """Return the role of the server to which the position belongs.

    If no server has the identity in the position, the result is `noted`. If `noted` is None, the
    result is the only server whose identity is unknown. If there is not exactly one, it is the
    master.
    """
    for seen in servers:
        if seen.is_of(published.identity):
            return seen.role
    if noted is not None and any(seen.role is noted for seen in servers):
        return noted
    unknown = [seen.role for seen in servers if not seen.known]
    return unknown[0] if len(unknown) == 1 else ServerRole.MASTER


def decide(situation: Situation) -> Decision:
    """Return the decision for a situation."""
    target, why = _wanted(situation)
    if target is None:
        return Decision(Action.STAY, why)
    seen = situation.server(target)
    if seen is None:
        return Decision(Action.STAY, f"{why} No {target} is configured.")
    if not seen.answers:
        return Decision(Action.STAY, f"{why} The {target} does not answer: {seen.error}")
    return _judged(situation, seen, why)


def _wanted(situation: Situation) -> tuple[ServerRole | None, str]:
    """Return the server that the orders and settings request, with the reason. None: keep the
    current server.
    """
    orders, rules = situation.orders, situation.rules
    followed = situation.server(situation.followed)
    if orders.switch_to is not None and orders.switch_to is not situation.followed:
        return orders.switch_to, f"An operator ordered a switch to the {orders.switch_to}."
    if followed is None:
        return None, f"The {situation.followed} is not configured any more."
    if followed.answers and not followed.is_of(situation.published.identity):
        if rules.virtual_address or orders.switch_to is situation.followed:
            return situation.followed, "Another server has the address."
        return None, "Another server has the address, and failover.virtual_address is off."
    if followed.failures < rules.retry_threshold:
        return (
            None,
            ""
            if followed.answers
            else (
                f"{followed.failures} of {rules.retry_threshold} heartbeats failed: "
                f"{followed.error}"
            ),
        )
    gone = f"The {situation.followed} failed {followed.failures} heartbeats in a row."
    if orders.hold:
        return None, f"{gone} An operator has forbidden a switch (hold)."
    if not rules.automatic:
        return None, (
            f"{gone} failover.heartbeat_ha_enable is off, so only an operator can order a switch."
        )
    return situation.followed.other, gone


def _judged(situation: Situation, seen: ServerSeen, why: str) -> Decision:
    """Return the decision about the requested server, by the proof that GTIDs give."""
    published, orders = situation.published, situation.orders
    if reason := _no_proof_possible(published, seen):
        if situation.rules.without_gtid:
            how = (
                f"Digests will show which transactions the {seen.role} has."
                if situation.rules.by_digest
                else reason
            )
            return Decision(Action.SWITCH, f"{why} {how}", seen.role)
        return _unready(
            situation, Decision(Action.STOP, f"{why} {reason}", seen.role, code="SWITCH_NEEDS_GTID")
        )
    proof = standby_transactions(
        published.gtid_set, published.split_gtid, seen.held, seen.purged, orders.accepted
    )
    if proof.behind and not _nearly_there(situation, seen):
        return _unready(situation, _behind(seen, proof, Action.WAIT))
    if proof.behind and not situation.streaming:
        return _behind(seen, proof, Action.WAIT)
    if not proof.gone.empty:
        reason = (
            f"The {seen.role} no longer has the binlog of {proof.gone}, which was not published "
            f"yet."
        )
        return _unready(
            situation,
            Decision(Action.STOP, reason, seen.role, code="STANDBY_PURGED", gone=str(proof.gone)),
        )
    return Decision(Action.SWITCH, why, seen.role)


def _no_proof_possible(published: Published, seen: ServerSeen) -> str:
    if not published.gtid_set or not seen.gtids:
        return f"Without GTIDs nothing proves that the {seen.role} has the published transactions."
    if bool(GtidSet.parse(published.gtid_set).domains) is not seen.mariadb:
        return (
            f"The {seen.role} is {_family(mariadb=seen.mariadb)} and the published GTIDs are those "
            f"of {_family(mariadb=not seen.mariadb)}, so they cannot be compared."
        )
    return ""


def _family(*, mariadb: bool) -> str:
    return "MariaDB" if mariadb else "MySQL"


def _nearly_there(situation: Situation, seen: ServerSeen) -> bool:
    """Return whether the followed server answers and the other one is at most one heartbeat behind.

    Reading continues until the other server has caught up, so an operator's switch causes no pause.
    """
    if not situation.followed_serves:
        return False
    return standby_transactions(
        situation.published_before, "", seen.held, "", situation.orders.accepted
    ).lacking.empty


def _unready(situation: Situation, decision: Decision) -> Decision:
    """Return the decision; if the followed server still serves, STAY with the same reason."""
    if not situation.followed_serves:
        return decision
    return Decision(
        Action.STAY,
        decision.reason,
        decision.to,
        decision.code,
        decision.behind,
        decision.lacking,
        decision.gone,
    )


def _behind(seen: ServerSeen, proof: StandbyTransactions, action: Action) -> Decision:
    number = f"{proof.behind:,}".replace(",", " ")
    noun = "transaction" if proof.behind == 1 else "transactions"
    return Decision(
        action,
        f"{seen.role} is {number} {noun} behind",
        seen.role,
        behind=proof.behind,
        lacking=str(proof.lacking),
    )

"""The switch of a source to its other server: the proof that this other server has the published
transactions, and the position record there.
"""

from dataclasses import replace
from time import time

from relay.errors import RelayError, StandbyDiverged, SwitchNeedsGtid
from relay.ha import Action, Decision, Situation
from relay.model.failover import Published, ServerRole
from relay.model.records.followed_names import names_up_to
from relay.model.records.position_record import PositionRecord
from relay.pipeline.failover.digest_switch import DigestSwitch
from relay.pipeline.failover.server_watches import ServerWatches
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.settings import InstanceSettings
from relay.source import ProvenPosition, boundary_before, proven_position
from relay.state import StandingOrders, SwitchNote


class SourceSwitch:
    """Switches one source to its other server; one thread at a time uses it.

    `digests` finds coordinates on servers without GTIDs.
    """

    def __init__(self, instance: InstanceSettings, servers: ServerWatches, source: str) -> None:
        self.digests = DigestSwitch(instance, servers.settings)
        self._rules = instance.failover
        self._servers = servers
        self._source = source
        self._diverged: tuple[int, Decision] | None = None

    def made(
        self,
        decision: Decision,
        to: ServerRole,
        situation: Situation,
        record: PositionRecord,
        orders: StandingOrders,
    ) -> SourceChoice:
        """Prove that the server `to` has the published transactions; return the choice of this
        server.

        decision   the decision to switch, with its reason
        to         the server to switch to
        situation  what is known about the servers
        record     the committed position record
        orders     the operators' orders, such as an accepted loss

        The choice has the position record from which to continue. Raises StandbyBehind if `to`
        lacks published transactions that it may still receive, and a SwitchRefused if the proof
        fails for another reason.
        """
        settings = self._servers.settings[to]
        proven = self._new_position(to, situation.published, record, orders)
        moved = switched_record(record, proven)
        note = SwitchNote(
            at_ms=int(time() * 1000),
            to=to.value,
            place=f"{settings.host}:{settings.port}",
            reason=decision.reason,
            epoch=moved.epoch,
            lost=proven.lost,
            left_out=proven.left_out,
            errant=self._servers.errant,
            accepted_by=orders.accepted_by if proven.lost or proven.left_out else "",
            asked_by=orders.by if orders.switch_to is to else "",
            source=self._source,
        )
        return SourceChoice({self._source: settings}, moved, (note,))

    def tried(
        self,
        decision: Decision,
        situation: Situation,
        record: PositionRecord,
        orders: StandingOrders,
    ) -> Decision:
        """Try the proof of a switch before the present stream is interrupted.

        Returns `decision` if the proof succeeds, or if no proof is possible before the switch.
        Otherwise returns a decision to stay, with the reason. The proof uses the position of the
        last server check. If a proof by GTIDs has shown that the other server has diverged, the
        proof is not tried again until an operator gives a new order. The parameters are those of
        `made`.
        """
        if self._diverged is not None and self._diverged[0] == orders.number:
            return self._diverged[1]
        by_gtid = bool(situation.published.gtid_set)
        if decision.to is None or not (by_gtid or self.digests.chosen):
            return decision
        if not by_gtid and self.digests.rests():
            return replace(decision, action=Action.STAY)
        try:
            if by_gtid:
                published = replace(
                    situation.published, gtid_set=situation.published_before, split_gtid=""
                )
                proven_position(self._servers.settings[decision.to], published, orders.accepted)
            else:
                self.digests.check_found(decision.to, record)
        except RelayError as exc:
            refused = replace(decision, action=Action.STAY, reason=exc.reason, code=exc.code)
            if by_gtid and isinstance(exc, StandbyDiverged):
                self._diverged = (orders.number, refused)
            return refused
        return decision

    def _new_position(
        self, to: ServerRole, published: Published, record: PositionRecord, orders: StandingOrders
    ) -> ProvenPosition:
        settings, way = self._servers.settings[to], self._rules.switch_without_gtid
        try:
            return proven_position(settings, published, orders.accepted)
        except SwitchNeedsGtid:
            # Half a transaction could not be found again by its time.
            if way == "stop" or (way == "fallback" and record.split is not None):
                raise
        if way == "digest":
            return ProvenPosition(self.digests.find(to, record))
        return ProvenPosition(
            boundary_before(
                settings, record.change_time_ms / 1000 - self._rules.fallback_interval_seconds
            ),
            repeats=True,
        )


def switched_record(record: PositionRecord, proven: ProvenPosition) -> PositionRecord:
    """Return the position record on the server to which the source switches, under the next epoch.

    record  the committed record on the former server
    proven  the position on the new server

    A half-published transaction that was lost with the former server is dropped. A replay ends,
    because its coordinates are valid only on the former server; its remaining rows get the new
    epoch. A transaction that is repeated, lost or left out may contain a statement that changes a
    table. So the schema history continues only without such a transaction.
    """
    split = (
        None
        if proven.lost and record.split is not None and record.split.gtid in proven.lost
        else record.split
    )
    order = record.order if record.replay is None else record.order.raised_to(record.replay.order)
    names = names_up_to(record.source, record.names) if proven.is_exact else None
    return replace(
        record,
        source=proven.position,
        epoch=record.epoch + 1,
        order=order,
        split=split,
        replay=None,
        names=names,
    )

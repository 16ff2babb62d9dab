"""Shows the state of the servers of an instance, and stores operators' orders about them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from api.errors import BadRequest
from api.models.failover import FailoverAnswer, ServerAnswer, SourceFailoverAnswer
from api.readings import LastReading, Reading
from api.services.catch_up import CatchUpRates, Sample
from api.services.instance_directory import InstanceDirectory
from relay.audit import AuditEntry, AuditTrail
from relay.model.failover import ServerRole
from relay.model.names.source_name import source_named
from relay.model.positions.gtid import GtidSet
from relay.state import (
    FailoverState,
    FailoverStore,
    FailoverView,
    Note,
    StandingOrders,
    SwitchNote,
)


class FailoverDesk:
    """Shows the servers of an instance's sources, and stores operators' orders in ZooKeeper.

    The leading relay reads the orders. Each order is written to the audit trail first. The
    parameter `source` names one source of a group; for an instance with one source it is "" or the
    instance's name. The parameter `note` has author and comment of the order. The methods raise
    SourceNotNamed if the instance is a group and `source` is "".
    """

    def __init__(
        self, directory: InstanceDirectory, store: FailoverStore, audit: AuditTrail
    ) -> None:
        self._directory = directory
        self._store = store
        self._audit = audit
        self._catch_up = CatchUpRates()
        self._last = LastReading[list[FailoverAnswer]]()

    def show(self, instance: str) -> FailoverAnswer:
        """Return the servers of each source, the orders and the history. Raises NodeMissing."""
        return self._answers({instance: sorted(self._directory.instance(instance).sources)})[0]

    def every(self) -> list[FailoverAnswer]:
        """Return the servers, the orders and the history of every instance, sorted by instance
        name.
        """
        listed = self._directory.instances()
        return self._answers({each.name: sorted(each.sources) for each in listed})

    def known(self) -> Reading[list[FailoverAnswer]]:
        """Return what `every` returns, or its last result while ZooKeeper does not answer.

        Raises StoreUnreachable if no reading has succeeded yet.
        """
        return self._last.of(self.every)

    def switch(self, instance: str, source: str, to: ServerRole, note: Note) -> FailoverAnswer:
        """Order the relay to read the source from its server with the role `to`. The relay switches
        when that server has every published transaction.

        Raises BadRequest if the source has no server with this role.
        """
        source = self._meant(instance, source)
        if self._view(instance, source).server(to) is None:
            raise BadRequest(f"{_named(instance, source)} has no server with the role {to}.")
        return self._order(
            instance,
            source,
            "failover.switch",
            {"to": to.value},
            note,
            lambda standing: replace(standing, switch_to=to),
        )

    def hold(self, instance: str, source: str, note: Note) -> FailoverAnswer:
        """Order the relay not to switch because of failed heartbeats, until `release` is called."""
        return self._order(
            instance,
            source,
            "failover.hold",
            {"hold": True},
            note,
            lambda standing: replace(standing, hold=True),
        )

    def release(self, instance: str, source: str, note: Note) -> FailoverAnswer:
        """Withdraw all orders: the hold, a switch that has not happened, and losses that were not
        used.
        """
        cleared: dict[str, object] = {"hold": False, "switch_to": None, "accepted": ""}
        return self._order(
            instance,
            source,
            "failover.release",
            cleared,
            note,
            lambda standing: replace(standing, hold=False, switch_to=None, accepted=""),
        )

    def accept_loss(self, instance: str, source: str, gtids: str, note: Note) -> FailoverAnswer:
        """Allow the next switch to continue without the transactions in `gtids`, a GTID set.

        Raises BadRequest if one of these transactions is missing on no server: the leading relay
        reports it neither as lacking on a server nor as purged there before it was published.
        """
        source = self._meant(instance, source)
        view, accepted = self._view(instance, source), _parsed(gtids)
        missing = GtidSet.parse(
            ",".join(
                filter(None, (text for each in view.servers for text in (each.lacking, each.gone)))
            )
        )
        if not missing.covers(accepted):
            raise BadRequest(
                "These transactions of your request are not missing on any server: "
                f"{accepted.without(missing)}. Missing transactions: {str(missing) or 'none'}."
            )
        text = str(accepted)
        return self._order(
            instance,
            source,
            "failover.accept-loss",
            {"gtids": text},
            note,
            lambda standing: replace(standing, accepted=text, accepted_by=note.author),
        )

    def _answers(self, sources: Mapping[str, Sequence[str]]) -> list[FailoverAnswer]:
        """Return the answer for each instance; `sources` are those of a group, by instance."""
        keys = [(name, each) for name, theirs in sources.items() for each in (theirs or [""])]
        states = dict(zip(keys, self._store.every(keys), strict=True))
        return [
            FailoverAnswer.of(
                "",
                *_single(states.get((name, ""))),
                self._servers(name, "", states.get((name, ""))),
            ).model_copy(
                update={
                    "instance": name,
                    "sources": [
                        SourceFailoverAnswer.of(
                            each,
                            *_single(states[name, each]),
                            self._servers(name, each, states[name, each]),
                        )
                        for each in theirs
                    ],
                }
            )
            for name, theirs in sources.items()
        ]

    def _servers(
        self, instance: str, source: str, state: FailoverState | None
    ) -> list[ServerAnswer]:
        """Return the servers of a source, with the rate at which each catches up."""
        view = None if state is None else state.view
        found = []
        for each in () if view is None else view.servers:
            sample = Sample(each.seen_ms, each.behind)
            rate = self._catch_up.note((instance, source, each.role, each.place), sample)
            answer = ServerAnswer.of(each)
            if rate is not None:
                update = {"catch_up_per_second": rate.per_second, "catch_up_seconds": rate.left_s}
                answer = answer.model_copy(update=update)
            found.append(answer)
        return found

    def _meant(self, instance: str, source: str) -> str:
        return source_named(instance, sorted(self._directory.instance(instance).sources), source)

    def _view(self, instance: str, source: str) -> FailoverView:
        view = self._store.of_source(source).view(instance)
        if view is None:
            remedy = (
                f"Configure "
                f"{'a standby of it' if source else 'source.standby or failover.virtual_address'}, "
                f"and start it."
            )
            raise BadRequest(
                (
                    "The leading relay has not reported the servers of "
                    f"{' of '.join(filter(None, (source, instance)))}."
                ),
                remedy=remedy,
            )
        return view

    def _order(
        self,
        instance: str,
        source: str,
        act: str,
        after: dict[str, object],
        note: Note,
        change: Callable[[StandingOrders], StandingOrders],
    ) -> FailoverAnswer:
        if not note.author:
            raise BadRequest(
                "The request does not name the author of the order.",
                remedy="Send X-Author, and X-Comment with the reason.",
            )
        source = self._meant(instance, source)
        self._view(instance, source)
        named: dict[str, object] = {"source": source} if source else {}
        before = {**named, **_told(self._store.of_source(source).orders(instance))}
        self._audit.append(
            AuditEntry(note.author, act, instance, before, {**named, **after}, note.comment)
        )
        self._store.of_source(source).change_orders(
            instance,
            lambda standing: replace(
                change(standing), by=note.author, at_ms=note.saved_ms, comment=note.comment
            ),
        )
        return self.show(instance)


def _single(
    found: FailoverState | None,
) -> tuple[FailoverView | None, StandingOrders, tuple[SwitchNote, ...]]:
    if found is None:
        return None, StandingOrders(), ()
    return found.view, found.orders, found.history


def _told(orders: StandingOrders) -> dict[str, object]:
    to = orders.switch_to
    return {
        "hold": orders.hold,
        "switch_to": None if to is None else to.value,
        "accepted": orders.accepted,
    }


def _named(instance: str, source: str) -> str:
    return f"Source {source} of {instance}" if source else f"Instance {instance}"


def _parsed(gtids: str) -> GtidSet:
    try:
        return GtidSet.parse(gtids)
    except ValueError as exc:
        raise BadRequest(f"{exc}.") from exc

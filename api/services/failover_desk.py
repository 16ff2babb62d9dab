"""What operators see of an instance's servers, and the orders that they give."""

from collections.abc import Callable
from dataclasses import replace

from api.errors import BadRequest
from api.models.failover import FailoverAnswer
from api.services.instance_directory import InstanceDirectory
from relay.audit import AuditEntry, AuditTrail
from relay.model.failover import ServerRole
from relay.model.gtid import GtidSet
from relay.state import FailoverStore, FailoverView, Note, StandingOrders


class FailoverDesk:
    """Orders stand in ZooKeeper, where the relay that leads the instance takes note of them; each is written to the audit trail first."""

    def __init__(self, directory: InstanceDirectory, store: FailoverStore, audit: AuditTrail) -> None:
        self._directory = directory
        self._store = store
        self._audit = audit

    def show(self, instance: str) -> FailoverAnswer:
        """Return both servers, the orders and the history. Raises NodeMissing."""
        self._directory.instance(instance)
        return FailoverAnswer.of(instance, self._store.view(instance), self._store.orders(instance), self._store.history(instance))

    def switch(self, instance: str, to: ServerRole, note: Note) -> FailoverAnswer:
        """Read from this server as soon as it has what was published. Raises BadRequest where no such server is known."""
        view = self._view(instance)
        if view.server(to) is None:
            raise BadRequest(f"Instance {instance} has no {to}.")
        return self._order(instance, "failover.switch", {"to": to.value}, note, lambda standing: replace(standing, switch_to=to))

    def hold(self, instance: str, note: Note) -> FailoverAnswer:
        """Let heartbeats alone switch nothing."""
        return self._order(instance, "failover.hold", {"hold": True}, note, lambda standing: replace(standing, hold=True))

    def release(self, instance: str, note: Note) -> FailoverAnswer:
        """Take everything back: hold, a switch that is not done, losses that are not used."""
        cleared: dict[str, object] = {"hold": False, "switch_to": None, "accepted": ""}
        return self._order(
            instance, "failover.release", cleared, note, lambda standing: replace(standing, hold=False, switch_to=None, accepted="")
        )

    def accept_loss(self, instance: str, gtids: str, note: Note) -> FailoverAnswer:
        """Let the next switch go on without these transactions. Raises BadRequest unless a server lacks or has purged all of them."""
        view, accepted = self._view(instance), _parsed(gtids)
        missing = GtidSet.parse(",".join(filter(None, (text for each in view.servers for text in (each.lacking, each.gone)))))
        if not missing.covers(accepted):
            raise BadRequest(f"{accepted.without(missing)} is missing at no server; missing are {str(missing) or 'none'}.")
        text = str(accepted)
        return self._order(
            instance,
            "failover.accept-loss",
            {"gtids": text},
            note,
            lambda standing: replace(standing, accepted=text, accepted_by=note.author),
        )

    def _view(self, instance: str) -> FailoverView:
        self._directory.instance(instance)
        view = self._store.view(instance)
        if view is None:
            raise BadRequest(
                f"No relay watches the servers of {instance}.", remedy="Configure source.standby or failover.virtual_address, and start it."
            )
        return view

    def _order(
        self, instance: str, act: str, after: dict[str, object], note: Note, change: Callable[[StandingOrders], StandingOrders]
    ) -> FailoverAnswer:
        if not note.author:
            raise BadRequest("An order needs a name to stand under.", remedy="Send X-Author, and X-Comment with the reason.")
        self._view(instance)
        self._audit.append(AuditEntry(note.author, act, instance, after=after, comment=note.comment))
        self._store.change_orders(
            instance, lambda standing: replace(change(standing), by=note.author, at_ms=note.saved_ms, comment=note.comment)
        )
        return self.show(instance)


def _parsed(gtids: str) -> GtidSet:
    try:
        return GtidSet.parse(gtids)
    except ValueError as exc:
        raise BadRequest(f"{exc}.") from exc

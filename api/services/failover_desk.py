"""What operators see of an instance's servers, and the orders that they give."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from api.errors import BadRequest
from api.models.failover import FailoverAnswer, SourceFailoverAnswer
from api.services.instance_directory import InstanceDirectory
from relay.audit import AuditEntry, AuditTrail
from relay.model.failover import ServerRole
from relay.model.names.source_name import source_named
from relay.model.positions.gtid import GtidSet
from relay.state import FailoverStore, FailoverView, Note, StandingOrders


class FailoverDesk:
    """Orders stand in ZooKeeper, where the relay that leads the instance takes note of them.

    Each is written to the audit trail first.

    `source` names one of a group; an only one is "" or goes by the name of the instance. Raises
    SourceNotNamed.
    """

    def __init__(
        self, directory: InstanceDirectory, store: FailoverStore, audit: AuditTrail
    ) -> None:
        self._directory = directory
        self._store = store
        self._audit = audit

    def show(self, instance: str) -> FailoverAnswer:
        """Return the servers of each source, the orders and the history. Raises NodeMissing."""
        return self._answer(instance, self._directory.instance(instance).sources)

    def every(self) -> list[FailoverAnswer]:
        """Return the same for every instance, by name."""
        return [self._answer(each.name, each.sources) for each in self._directory.instances()]

    def switch(self, instance: str, source: str, to: ServerRole, note: Note) -> FailoverAnswer:
        """Read from this server as soon as it has what was published.

        Raises BadRequest where no such server is known.
        """
        source = self._meant(instance, source)
        if self._view(instance, source).server(to) is None:
            raise BadRequest(f"{_named(instance, source)} has no {to}.")
        return self._order(
            instance,
            source,
            "failover.switch",
            {"to": to.value},
            note,
            lambda standing: replace(standing, switch_to=to),
        )

    def hold(self, instance: str, source: str, note: Note) -> FailoverAnswer:
        """Let heartbeats alone switch nothing."""
        return self._order(
            instance,
            source,
            "failover.hold",
            {"hold": True},
            note,
            lambda standing: replace(standing, hold=True),
        )

    def release(self, instance: str, source: str, note: Note) -> FailoverAnswer:
        """Take everything back: hold, a switch that is not done, losses that are not used."""
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
        """Let the next switch go on without these transactions.

        Raises BadRequest unless a server lacks or has purged all of them.
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
                f"{accepted.without(missing)} is missing at no server; missing are "
                f"{str(missing) or 'none'}."
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

    def _answer(self, instance: str, sources: Iterable[str]) -> FailoverAnswer:
        names, store = sorted(sources), self._store
        single = (
            (store.view(instance), store.orders(instance), store.history(instance))
            if not names
            else (None, StandingOrders(), ())
        )
        answer = FailoverAnswer.of("", *single)
        return answer.model_copy(
            update={
                "instance": instance,
                "sources": [self._source(instance, name) for name in names],
            }
        )

    def _source(self, instance: str, name: str) -> SourceFailoverAnswer:
        found = self._store.of_source(name)
        return SourceFailoverAnswer.of(
            name, found.view(instance), found.orders(instance), found.history(instance)
        )

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
                f"No relay watches the servers of {' of '.join(filter(None, (source, instance)))}.",
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
                "An order needs a name to stand under.",
                remedy="Send X-Author, and X-Comment with the reason.",
            )
        source = self._meant(instance, source)
        self._view(instance, source)
        after = {"source": source, **after} if source else after
        self._audit.append(
            AuditEntry(note.author, act, instance, after=after, comment=note.comment)
        )
        self._store.of_source(source).change_orders(
            instance,
            lambda standing: replace(
                change(standing), by=note.author, at_ms=note.saved_ms, comment=note.comment
            ),
        )
        return self.show(instance)


def _named(instance: str, source: str) -> str:
    return f"Source {source} of {instance}" if source else f"Instance {instance}"


def _parsed(gtids: str) -> GtidSet:
    try:
        return GtidSet.parse(gtids)
    except ValueError as exc:
        raise BadRequest(f"{exc}.") from exc

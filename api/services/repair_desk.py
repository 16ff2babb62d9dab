"""Repairs: publishes the present rows of keys again."""

from api.errors import NoSuchThing
from api.models.snapshot import RepairView, RepairWish, SnapshotView
from relay.errors import ConfigurationError
from relay.operations import Snapshots, Who, defined_instances, foretold_repair, instance_of
from relay.settings import InstanceSettings, RelaySettings
from relay.zk import Session


class RepairDesk:
    """Previews and requests repairs of rows, also for instances that are defined at run time."""

    def __init__(self, settings: RelaySettings, session: Session, snapshots: Snapshots) -> None:
        self._settings = settings
        self._session = session
        self._snapshots = snapshots

    def preview(self, wish: RepairWish) -> list[str]:
        """Return sentences about the effect in each instance. Nothing is changed.

        Raises SnapshotRefused, NoSuchThing, StoreUnreachable.
        """
        plan = wish.plan()
        self._snapshots.check(*plan.wanted)
        told = [
            sentence
            for instance in self._asked(wish)
            for sentence in foretold_repair(instance, plan.wanted)
        ]
        if not plan.wanted:
            told = ["The report contains no row that can be published again."]
        return list(dict.fromkeys([*told, *plan.left_out]))

    def repair(self, wish: RepairWish, who: Who) -> RepairView:
        """Create the requests of a repair, and return them.

        Raises SnapshotRefused, NoSuchThing, StoreUnreachable.
        """
        plan = wish.plan()
        self._asked(wish)
        started = self._snapshots.start_all(who, plan.wanted, wish.instances)
        return RepairView(
            made=[SnapshotView.of(each, values=True) for each in started.made],
            under_way=[SnapshotView.of(each, values=True) for each in started.under_way],
            sentences=list(plan.left_out),
        )

    def _asked(self, wish: RepairWish) -> list[InstanceSettings]:
        if not wish.instances:
            return list(defined_instances(self._settings, self._session).settings)
        try:
            return [
                instance_of(self._settings, name, self._session, resolved=False)
                for name in wish.instances
            ]
        except ConfigurationError as exc:
            raise NoSuchThing(exc.reason) from exc

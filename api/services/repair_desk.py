"""Previews copies of tables and repairs of rows, and creates the requests of repairs."""

from collections.abc import Sequence

from api.errors import NoSuchThing
from api.models.snapshot import RepairView, RepairWish, SnapshotView
from api.services.mappings.logical_view import LogicalViews
from relay.errors import ConfigurationError
from relay.operations import (
    Snapshots,
    WantedSnapshot,
    Who,
    defined_instances,
    foretold_copy,
    foretold_repair,
    instance_of,
)
from relay.settings import InstanceSettings, RelaySettings
from relay.zk import Session


class RepairDesk:
    """Previews copies and repairs of rows, and requests repairs, also for instances that are
    defined at run time.
    """

    def __init__(
        self,
        settings: RelaySettings,
        session: Session,
        snapshots: Snapshots,
        logical: LogicalViews,
    ) -> None:
        self._settings = settings
        self._session = session
        self._snapshots = snapshots
        self._logical = logical

    def preview_copy(self, wanted: WantedSnapshot, instances: Sequence[str]) -> list[str]:
        """Return sentences about the effect of a copy in each of the named instances, or in all
        instances if none is named.

        Nothing is changed. Raises SnapshotRefused, NoSuchThing, StoreUnreachable.
        """
        asked = self._asked(instances)
        self._snapshots.check(wanted)
        groups = self._logical.view("topic").groups
        told: list[str] = []
        for instance in asked:
            met = {
                f"{table.logical_database}.{table.logical_table}"
                for group in groups
                if instance.name in group.instances
                for table in group.tables
            }
            told += foretold_copy(instance, wanted, sorted(met))
        return list(dict.fromkeys(told))

    def preview(self, wish: RepairWish) -> list[str]:
        """Return sentences about the effect of a repair in each instance. Nothing is changed.

        Raises SnapshotRefused, NoSuchThing, StoreUnreachable.
        """
        plan = wish.plan()
        self._snapshots.check(*plan.wanted)
        told = [
            sentence
            for instance in self._asked(wish.instances)
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
        self._asked(wish.instances)
        started = self._snapshots.start_all(who, plan.wanted, wish.instances)
        return RepairView(
            made=[SnapshotView.of(each, values=True) for each in started.made],
            under_way=[SnapshotView.of(each, values=True) for each in started.under_way],
            sentences=list(plan.left_out),
        )

    def _asked(self, instances: Sequence[str]) -> list[InstanceSettings]:
        if not instances:
            return list(defined_instances(self._settings, self._session).settings)
        try:
            return [
                instance_of(self._settings, name, self._session, resolved=False)
                for name in instances
            ]
        except ConfigurationError as exc:
            raise NoSuchThing(exc.reason) from exc

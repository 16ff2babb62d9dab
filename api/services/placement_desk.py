"""Shows and changes which relay runs which instance."""

from api.models.placement import (
    HandOverView,
    InstancePlaceView,
    MaintenancePreview,
    PlacementView,
    WishView,
)
from api.readings import LastReading, Reading
from relay.audit import DelayedTrail
from relay.operations import PlacementEditor, hand_overs
from relay.state import Membership, PlacementStore


class PlacementDesk(PlacementEditor):
    """Shows the placement, and stores operators' orders for moves and maintenance."""

    def __init__(self, members: Membership, overrides: PlacementStore, acts: DelayedTrail) -> None:
        super().__init__(members, overrides, acts)
        self._wishes = overrides
        self._last = LastReading[PlacementView]()

    def placement(self) -> PlacementView:
        """Return the leaders, the candidates, and the operators' overrides."""
        overrides = self._wishes.overrides()
        return PlacementView(
            instances=[InstancePlaceView.of(each) for each in self.assignments()],
            moves=[
                WishView.of(name, override) for name, override in sorted(overrides.moves.items())
            ],
            maintenance=[
                WishView.of(name, override)
                for name, override in sorted(overrides.maintenance.items())
            ],
        )

    def known(self) -> Reading[PlacementView]:
        """Return what `placement` returns, or its last result while ZooKeeper does not answer.

        Raises StoreUnreachable if no reading has succeeded yet.
        """
        return self._last.of(self.placement)

    def preview_maintenance(self, server: str) -> MaintenancePreview:
        """Return where each instance of a server would move. Nothing is changed."""
        found = hand_overs(
            self._members.members(),
            self._members.leaders(),
            self._wishes.overrides(),
            server,
        )
        return MaintenancePreview(
            server=server, instances=[HandOverView.of(each) for each in found]
        )

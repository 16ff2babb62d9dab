"""Who runs what, as operators see and change it."""

from api.models.placement import InstancePlaceView, PlacementView, WishView
from relay.audit import DelayedTrail
from relay.operations import PlacementEditor
from relay.state import Membership, PlacementStore


class PlacementDesk(PlacementEditor):
    """Shows the placement, and takes moves and maintenance."""

    def __init__(self, members: Membership, overrides: PlacementStore, acts: DelayedTrail) -> None:
        super().__init__(members, overrides, acts)
        self._wishes = overrides

    def placement(self) -> PlacementView:
        """Return who leads, who could, and what operators want."""
        overrides = self._wishes.overrides()
        return PlacementView(
            instances=[InstancePlaceView.of(each) for each in self.places()],
            moves=[
                WishView.of(name, override) for name, override in sorted(overrides.moves.items())
            ],
            maintenance=[
                WishView.of(name, override)
                for name, override in sorted(overrides.maintenance.items())
            ],
        )

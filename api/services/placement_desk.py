"""Who runs what, as operators see and change it."""

import structlog

from api.models.placement import InstancePlaceView, PlacementView, WishView
from relay.errors import NodeMissing
from relay.state import InstancePlace, Membership, Note, PlacementStore, check_move, places

_log = structlog.stdlib.get_logger(__name__)


class PlacementDesk:
    """Shows the placement, takes moves and maintenance; the relays carry them out by themselves."""

    def __init__(self, members: Membership, wishes: PlacementStore) -> None:
        self._members = members
        self._wishes = wishes

    def placement(self) -> PlacementView:
        """Return who leads, who could, and what operators want."""
        wishes = self._wishes.wishes()
        return PlacementView(
            instances=[InstancePlaceView.of(each) for each in self._places()],
            moves=[WishView.of(name, wish) for name, wish in sorted(wishes.moves.items())],
            maintenance=[WishView.of(name, wish) for name, wish in sorted(wishes.maintenance.items())],
        )

    def move(self, instance: str, to: str, note: Note) -> None:
        """Let an instance run on a relay or server until it is asked for something else. Raises NodeMissing, PlacementRefused."""
        found = next((each for each in self._places() if each.instance == instance), None)
        if found is None:
            raise NodeMissing(f"No living relay has an instance called {instance}.")
        check_move(found, to)
        self._wishes.move(instance, to, note)
        _log.info("instance_moved", instance=instance, to=to, author=note.author, comment=note.comment)

    def withdraw_move(self, instance: str, note: Note) -> None:
        """Let an instance run where its settings and the balance say. Raises NodeMissing."""
        if instance not in self._wishes.wishes().moves:
            raise NodeMissing(f"Instance {instance} was not moved.")
        self._wishes.withdraw_move(instance)
        _log.info("move_withdrawn", instance=instance, author=note.author, comment=note.comment)

    def drain(self, server: str, note: Note) -> None:
        """Put a server into maintenance, also one that is not there yet or any more."""
        self._wishes.drain(server, note)
        _log.info("maintenance_begun", server=server, author=note.author, comment=note.comment)

    def end_maintenance(self, server: str, note: Note) -> None:
        """Let a server run instances again. Raises NodeMissing."""
        if server not in self._wishes.wishes().maintenance:
            raise NodeMissing(f"Server {server} is not in maintenance.")
        self._wishes.end_maintenance(server)
        _log.info("maintenance_ended", server=server, author=note.author, comment=note.comment)

    def _places(self) -> tuple[InstancePlace, ...]:
        return places(self._members.members(), self._members.leaders(), self._wishes.wishes())

"""Instances and relays: the last reports, and whether the reporting relay still runs."""

from api.models.instance import DroppedNameView, InstanceView, RelayView
from relay.operations import InstanceList
from relay.state import InstanceStore, Membership


class InstanceDirectory:
    """Returns the instances that exist and the relays that are connected."""

    def __init__(self, instances: InstanceStore, members: Membership, listed: InstanceList) -> None:
        self._instances = instances
        self._members = members
        self._listed = listed

    def instances(self) -> list[InstanceView]:
        """Return every instance that exists, sorted by name."""
        return [
            InstanceView.of(each.status, relay_alive=each.relay_alive)
            for each in self._listed.all()
        ]

    def instance(self, name: str) -> InstanceView:
        """Return one instance. Raises NodeMissing."""
        found = self._listed.one(name)
        return InstanceView.of(found.status, relay_alive=found.relay_alive)

    def dropped(self, name: str) -> list[DroppedNameView]:
        """Return the real table names that an instance does not relay, the ones with the most rows
        first. Raises NodeMissing.
        """
        self.instance(name)
        return [DroppedNameView.of(each) for each in self._instances.dropped(name)]

    def relays(self) -> list[RelayView]:
        """Return the relays that are connected to ZooKeeper."""
        return [RelayView.of(member) for member in self._members.members()]

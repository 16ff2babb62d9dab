"""Reads the instances with their last reports, and the connected relays."""

from collections.abc import Mapping
from typing import NamedTuple

from api.models.instance import DroppedNameView, InstanceView, RelayView
from relay.operations import InstanceList, ListedInstance
from relay.state import InstanceStore, Membership


class _Shown(NamedTuple):
    """An instance as it was listed, and its view."""

    listed: ListedInstance
    view: InstanceView


class InstanceDirectory:
    """Reads the instances that exist and the relays that are connected."""

    def __init__(self, instances: InstanceStore, members: Membership, listed: InstanceList) -> None:
        self._instances = instances
        self._members = members
        self._listed = listed
        self._shown: Mapping[str, _Shown] = {}

    def instances(self) -> list[InstanceView]:
        """Return every instance, sorted by name.

        While the status of an instance does not change, the result contains the same object for it.
        """
        shown = self._shown
        found = {each.status.name: _shown(each, shown) for each in self._listed.all()}
        self._shown = found
        return [each.view for each in found.values()]

    def instance(self, name: str) -> InstanceView:
        """Return the instance of this name. Raises NodeMissing if there is none."""
        found = self._listed.one(name)
        return InstanceView.of(found.status, relay_alive=found.relay_alive)

    def dropped(self, name: str) -> list[DroppedNameView]:
        """Return the real tables whose rows an instance does not publish, those with the most rows
        first.

        Raises NodeMissing for an unknown instance.
        """
        self.instance(name)
        return [DroppedNameView.of(each) for each in self._instances.dropped(name)]

    def relays(self) -> list[RelayView]:
        """Return the relays that are connected to ZooKeeper."""
        return [RelayView.of(member) for member in self._members.members()]


def _shown(listed: ListedInstance, before: Mapping[str, _Shown]) -> _Shown:
    """Return an instance with its view: the one before for the same status."""
    known, status = before.get(listed.status.name), listed.status
    if (
        known is not None
        and known.listed.status is status
        and known.listed.relay_alive == listed.relay_alive
    ):
        return known
    return _Shown(listed, InstanceView.of(status, relay_alive=listed.relay_alive))

"""Instances and relays: what was reported last, and whether the reporter still lives."""

from collections.abc import Sequence

from api.models.instance import DroppedNameView, InstanceView, RelayView
from relay.errors import NodeMissing
from relay.settings import InstanceSettings
from relay.state import InstanceStatus, InstanceStore, Membership

NEVER_REPORTED = "NEVER_REPORTED"
"""The state of an instance that stands in the configuration and that no relay has reported yet."""


class InstanceDirectory:
    """Joins statuses, members and the configured instances."""

    def __init__(self, instances: InstanceStore, members: Membership, configured: Sequence[InstanceSettings]) -> None:
        self._instances = instances
        self._members = members
        self._configured = tuple(each.name for each in configured)

    def instances(self) -> list[InstanceView]:
        """Return every instance that is configured here or was ever reported, sorted by name."""
        alive = self._alive()
        statuses = {status.name: status for status in self._instances.statuses()}
        for name in self._configured:
            statuses.setdefault(name, _never_reported(name))
        return [InstanceView.of(statuses[name], relay_alive=statuses[name].relay in alive) for name in sorted(statuses)]

    def instance(self, name: str) -> InstanceView:
        """Return one instance. Raises NodeMissing."""
        try:
            status = self._instances.status(name)
        except NodeMissing:
            if name not in self._configured:
                raise
            status = _never_reported(name)
        return InstanceView.of(status, relay_alive=status.relay in self._alive())

    def dropped(self, name: str) -> list[DroppedNameView]:
        """Return the names that an instance leaves out, those with the most rows first. Raises NodeMissing."""
        self.instance(name)
        return [DroppedNameView.of(each) for each in self._instances.dropped(name)]

    def relays(self) -> list[RelayView]:
        """Return the relays that live."""
        return [RelayView.of(member) for member in self._members.members()]

    def _alive(self) -> set[str]:
        return {member.name for member in self._members.members()}


def _never_reported(name: str) -> InstanceStatus:
    return InstanceStatus(name, NEVER_REPORTED, reason="No relay has reported it yet.", remedy="Start a relay with this configuration.")

"""Lists all instances, each with its last status."""

from collections.abc import Iterable
from dataclasses import dataclass

from relay.errors import NodeMissing
from relay.settings import RelaySettings
from relay.state import (
    InstanceDocumentStore,
    InstanceStatus,
    InstanceStore,
    Membership,
    Paths,
    RelayMember,
)
from relay.zk import Session

NEVER_REPORTED = "NEVER_REPORTED"
"""State of a configured instance that no relay has reported yet."""


@dataclass(frozen=True, slots=True)
class ListedInstance:
    """An instance with its last status. `relay_alive`: the relay that wrote the status
    still runs.
    """

    status: InstanceStatus
    relay_alive: bool


class InstanceList:
    """Lists the instances of the configuration file, those defined at run time, and those of other
    relays' files.
    """

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self._of_file = tuple(each.name for each in settings.instances)
        self._statuses = InstanceStore(session, paths)
        self._documents = InstanceDocumentStore(session, paths)
        self._members = Membership(session, paths)

    def all(self) -> list[ListedInstance]:
        """Return every instance that exists, sorted by name. Raises StoreUnreachable."""
        members = self._members.members()
        defined = self._documents.names()
        reported = {each.name: each for each in self._statuses.statuses()}
        here = {*self._of_file, *defined}
        for name in sorted(here - reported.keys()):
            reported[name] = _never_reported(name, run_time=name in defined)
        alive = {each.name for each in members}
        found = [
            status
            for name, status in sorted(reported.items())
            if name in here or exists_elsewhere(status, members)
        ]
        return [ListedInstance(status, status.relay in alive) for status in found]

    def one(self, name: str) -> ListedInstance:
        """Return the instance with this name. Raises NodeMissing if it does not exist."""
        members, here = self._members.members(), {*self._of_file, *self._documents.names()}
        try:
            status = self._statuses.status(name)
        except NodeMissing:
            status = _never_reported(name, run_time=name not in self._of_file)
        if name in here or (status.state != NEVER_REPORTED and exists_elsewhere(status, members)):
            return ListedInstance(status, any(each.name == status.relay for each in members))
        known = ", ".join(each.status.name for each in self.all()) or "none"
        raise NodeMissing(f"There is no instance {name!r}; known are {known}.")


def exists_elsewhere(status: InstanceStatus, members: Iterable[RelayMember]) -> bool:
    """Return whether the file of another relay defines this instance.

    True if a running relay, one of `members`, lists it. Also True if the relay that reported
    `status` no longer runs and the instance was not defined at run time. In that case, only the
    file of that relay can define it.
    """
    living = list(members)
    if any(status.name in each.instances for each in living):
        return True
    return not status.run_time and all(each.name != status.relay for each in living)


def _never_reported(name: str, *, run_time: bool) -> InstanceStatus:
    remedy = (
        "Start a relay: it runs this instance within seconds."
        if run_time
        else "Start a relay with this configuration."
    )
    return InstanceStatus(
        name,
        NEVER_REPORTED,
        reason="No relay has reported it yet.",
        remedy=remedy,
        run_time=run_time,
    )

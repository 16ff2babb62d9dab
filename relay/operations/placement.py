"""Changes on which relay an instance runs, and which servers are in maintenance, at an operator's
request.
"""

from relay.audit import AuditEntry, DelayedTrail
from relay.errors import NodeMissing
from relay.state import (
    InstanceAssignment,
    Membership,
    Note,
    PlacementStore,
    assignments,
    check_hand_over,
)


class PlacementEditor:
    """Stores hand-overs and maintenance in ZooKeeper; the relays carry them out.

    `acts` receives the audit entry of each change.
    """

    def __init__(self, members: Membership, overrides: PlacementStore, acts: DelayedTrail) -> None:
        self._members = members
        self._acts = acts
        self._overrides = overrides

    def assignments(self) -> tuple[InstanceAssignment, ...]:
        """Return for each instance which relay leads it, and which relays could lead it."""
        return assignments(
            self._members.members(), self._members.leaders(), self._overrides.overrides()
        )

    def maintenance(self) -> tuple[str, ...]:
        """Return the names of the servers in maintenance, sorted."""
        return tuple(sorted(self._overrides.overrides().maintenance))

    def hand_over(self, instance: str, to: str, note: Note) -> None:
        """Let an instance run on the relay or server `to`, until the hand-over is withdrawn or
        replaced.

        Raises NodeMissing if no connected relay has the instance. Raises PlacementRefused if `to`
        does not have it, is in maintenance, or cannot run it now.
        """
        found = next((each for each in self.assignments() if each.instance == instance), None)
        if found is None:
            raise NodeMissing(f"No connected relay has an instance named {instance}.")
        check_hand_over(found, to)
        self._overrides.hand_over(instance, to, note)
        self._note("instance.moved", instance, {"to": found.moved_to}, {"to": to}, note)

    def withdraw_hand_over(self, instance: str, note: Note) -> None:
        """Withdraw a hand-over. The relay of the instance is then chosen by the settings and the
        balance of load.

        Raises NodeMissing if the instance was not handed over.
        """
        moves = self._overrides.overrides().moves
        if instance not in moves:
            raise NodeMissing(f"Instance {instance} was not moved.")
        self._overrides.withdraw_hand_over(instance)
        self._note("move.withdrawn", instance, {"to": moves[instance].to}, {}, note)

    def drain(self, server: str, note: Note) -> None:
        """Put a server into maintenance, even if no relay runs on it."""
        self._overrides.drain(server, note)
        self._note("maintenance.begun", "", {}, {"server": server}, note)

    def end_maintenance(self, server: str, note: Note) -> None:
        """End the maintenance of a server. Raises NodeMissing if it is not in maintenance."""
        if server not in self._overrides.overrides().maintenance:
            raise NodeMissing(f"Server {server} is not in maintenance.")
        self._overrides.end_maintenance(server)
        self._note("maintenance.ended", "", {"server": server}, {}, note)

    def _note(
        self, act: str, subject: str, before: dict[str, str], after: dict[str, str], note: Note
    ) -> None:
        self._acts.note(
            AuditEntry(note.author or "admin", act, subject, before, after, note.comment)
        )

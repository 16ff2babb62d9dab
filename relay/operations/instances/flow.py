"""Pauses, resumes, throttles and starts an instance at an operator's request."""

from collections.abc import Callable
from dataclasses import replace

from relay.audit import AuditEntry, AuditTrail
from relay.errors import NodeMissing
from relay.operations.instances.known_instances import instance_of
from relay.operations.who import Who
from relay.settings import RelaySettings
from relay.state import Flow, FlowStore, InstanceStore, Paths
from relay.zk import Session


class InstanceFlow:
    """Shows and changes the pause and limits of one instance, and starts it again after a stop."""

    def __init__(self, settings: RelaySettings, instance: str, session: Session) -> None:
        self._instance = instance_of(settings, instance, session, resolved=False).name
        paths = Paths.of(settings.zookeeper, settings.installation)
        self._store = FlowStore(session, paths)
        self._instances = InstanceStore(session, paths)
        self._trail = AuditTrail(settings.kafka, settings.installation)

    def show(self) -> Flow:
        """Return the pause and limits that operators have set. Raises StoreUnreachable."""
        return self._store.read(self._instance)

    def pause(self, who: Who) -> Flow:
        """Pause the instance, and return the new flow. Its leader stops after the current batch and
        stays the leader.
        """
        return self.change(who, lambda flow: replace(flow, paused=True))

    def resume(self, who: Who) -> Flow:
        """Let a paused instance continue, and return the new flow."""
        return self.change(who, lambda flow: replace(flow, paused=False))

    def throttle(self, who: Who, rows_per_second: int | None, bytes_per_second: int | None) -> Flow:
        """Set the instance's rate limits, and return the new flow.

        A parameter None: use the limit of the configuration file; 0: no limit.
        """
        return self.change(
            who,
            lambda flow: replace(
                flow, rows_per_second=rows_per_second, bytes_per_second=bytes_per_second
            ),
        )

    def change(self, who: Who, change: Callable[[Flow], Flow]) -> Flow:
        """Apply `change` to the present flow, and return the new flow.

        The audit entry is written first; if that fails, nothing is changed. Raises VersionConflict
        if another operator changes the flow at the same time.
        """
        before = self._store.read(self._instance)
        after = replace(change(before), by=who.name, comment=who.comment)
        self._trail.append(
            AuditEntry(
                who.name, "flow.set", self._instance, _fields(before), _fields(after), who.comment
            )
        )
        return self._store.write(self._instance, after)

    def start(self, who: Who) -> None:
        """Start a stopped instance again, with the settings that its relay has loaded.

        The audit entry is written first.
        """
        self._trail.append(
            AuditEntry(
                who.name,
                "instance.started",
                self._instance,
                self._state(),
                {"state": "asked to start"},
                who.comment,
            )
        )
        self._instances.call(self._instance)

    def _state(self) -> dict[str, object]:
        try:
            status = self._instances.status(self._instance)
        except NodeMissing:
            return {"state": "never reported"}
        return {"state": status.state, **({"code": status.code} if status.code else {})}


def _fields(flow: Flow) -> dict[str, object]:
    return {
        "paused": flow.paused,
        "rows_per_second": flow.rows_per_second,
        "bytes_per_second": flow.bytes_per_second,
    }

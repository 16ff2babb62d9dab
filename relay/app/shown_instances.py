"""Writes the status of a relay's instances to ZooKeeper, and updates their metrics."""

from collections.abc import Sequence
from typing import Final

import structlog

from relay.app.status_writes import StatusWrites
from relay.errors import NodeMissing, StoreRefused, StoreUnreachable, VersionConflict
from relay.model.positions.position import file_number
from relay.model.table import TableId
from relay.pipeline import Instance, InstanceState, paths_of_tables
from relay.state import DroppedName, InstanceStatus, InstanceStore
from relay.telemetry import InstanceMetrics, ShownTotals
from relay.telemetry.metrics import STORE_CONNECTED, STORE_SESSION_TIMEOUT, STORE_SESSIONS
from relay.zk import Session

_NOT_LED: Final = (InstanceState.STANDBY, InstanceState.ENDED)

_log = structlog.stdlib.get_logger(__name__)


class ShownInstances:
    """Reports the instances of one relay: statuses, names of tables, metrics.

    `relay` is the name of the process. Used by the main thread of the process; `statuses` is safe
    in any thread.
    """

    def __init__(self, relay: str, session: Session, notes: InstanceStore) -> None:
        self._relay = relay
        self._session = session
        self._notes = notes
        self._dropped_shown: dict[str, frozenset[tuple[TableId, str, str]]] = {}
        self._tables_shown: dict[str, frozenset[str]] = {}
        self._writes = StatusWrites({})
        self._metrics: dict[str, InstanceMetrics] = {}
        self._totals: dict[str, ShownTotals] = {}

    def begin(self, instance: Instance) -> None:
        """Register an instance. If an instance of this name ran before, its counters continue."""
        metrics = self._metrics.setdefault(instance.name, InstanceMetrics(instance.name))
        self._totals[instance.name] = ShownTotals(metrics)

    def show(self, instances: Sequence[Instance]) -> None:
        """Write the statuses of led instances that are due (StatusWrites) to ZooKeeper, and update
        the metrics of all instances.

        A failed write is logged, and the instances continue.
        """
        # Only the leader writes the status. An instance that has ended here wrote its last status
        # before another relay could become leader.
        led = [each for each in instances if each.state not in _NOT_LED]
        try:
            self._put(led)
        except StoreUnreachable as exc:
            _log.warning("status_not_written", reason=exc.reason)
        for instance in instances:
            self._show_metrics(instance)
        STORE_CONNECTED.set(self._session.connected)
        STORE_SESSIONS.set(self._session.sessions)
        STORE_SESSION_TIMEOUT.set(self._session.timeout_ms / 1000)

    def _put(self, led: Sequence[Instance]) -> None:
        statuses = [each.status(self._relay) for each in led]
        by_name = {each.name: each for each in led}
        written: list[InstanceStatus] = []
        try:
            # If an error occurs, the list has the statuses that were written before it.
            written.extend(
                status
                for status in self._writes.chosen(statuses)
                if self._written(status, by_name[status.name])
            )
        finally:
            self._writes = self._writes.after(statuses, written)

    def _written(self, status: InstanceStatus, instance: Instance) -> bool:
        """Write what belongs to one instance. Return False if ZooKeeper refuses it: the statuses of
        other instances are written all the same. Raises StoreUnreachable.
        """
        try:
            self._notes.put_status(status)
            self._show_dropped(instance)
            self._show_tables(instance)
        except (StoreRefused, VersionConflict, NodeMissing) as exc:
            _log.warning("status_not_written", instance=status.name, reason=exc.reason)
            return False
        return True

    def forget_removed(self, instances: Sequence[Instance]) -> None:
        """Remove the metrics of instances that ended because they are no longer configured."""
        for name in self._metrics.keys() - {instance.name for instance in instances}:
            self._metrics.pop(name).remove()
            self._totals.pop(name)

    def _show_metrics(self, instance: Instance) -> None:
        metrics, status = self._metrics[instance.name], instance.status(self._relay)
        metrics.show_state(status.state)
        metrics.gauges.show_status(status.to_fields())
        if status.position_file:
            metrics.gauges.position_file.set(file_number(status.position_file))
        metrics.dropped_names.set(len({table for table, _ in list(instance.stats.dropped)}))
        self._totals[instance.name].show(instance.stats.totals)

    def _show_dropped(self, instance: Instance) -> None:
        """Store the list of the names that are filtered when it has a new name, or when a name
        resembles another table.

        A changed row count alone is not stored.
        """
        like = instance.stats.likeness.of
        names = frozenset((*each, like(each[0]).name) for each in list(instance.stats.dropped))
        if self._dropped_shown.get(instance.name) != names:
            self._notes.put_dropped(instance.name, _dropped(instance))
            self._dropped_shown[instance.name] = names

    def _show_tables(self, instance: Instance) -> None:
        """List the tables that were met, now or by an earlier relay, for dry runs of mapping
        edits.
        """
        met = frozenset(map(str, frozenset(instance.stats.tables)))
        shown = self._tables_shown.get(instance.name)
        if not met or (shown is not None and met <= shown):
            return
        known = met | (
            shown if shown is not None else frozenset(self._notes.tables_of(instance.name))
        )
        self._notes.put_tables(instance.name, known)
        self._tables_shown[instance.name] = known

    def statuses(self, instances: Sequence[Instance]) -> list[dict[str, object]]:
        """Return for each instance the fields of its status, with its tables, the time when this
        relay became its leader, and the session timeout.
        """
        granted = {"zookeeper_session_timeout_ms": self._session.timeout_ms}
        return [
            {
                **instance.status(self._relay).to_fields(),
                "tables": paths_of_tables(instance.stats.printed),
                "leading_since_ms": instance.leading_since_ms,
                **granted,
            }
            for instance in instances
        ]


def _dropped(instance: Instance) -> list[DroppedName]:
    found = []
    for (table, reason), rows in list(instance.stats.dropped.items()):
        like = instance.stats.likeness.of(table)
        found.append(DroppedName(str(table), reason, rows, 0, like.name, like.common, like.all))
    return found

"""The metrics of one instance."""

from contextlib import suppress
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from relay.model.table import TableId
from relay.telemetry import metrics
from relay.telemetry.instance_gauges import InstanceGauges

REMOVED: Final = "REMOVED"
"""The label `state` of `roma_instance_state` for an instance that was removed while the relay ran.

No running instance has this state.
"""


class InstanceMetrics:
    """One instance's counters and gauges with their label already bound, because looking a label up
    costs more than counting.
    """

    def __init__(self, instance: str) -> None:
        self.instance = instance
        self.source_rows = metrics.SOURCE_ROWS.labels(instance)
        self.source_transactions = metrics.SOURCE_TRANSACTIONS.labels(instance)
        self.source_bytes = metrics.SOURCE_BYTES.labels(instance)
        self.source_reconnects = metrics.SOURCE_RECONNECTS.labels(instance)
        self.published_rows = metrics.PUBLISHED_ROWS.labels(instance)
        self.copied_rows = metrics.COPIED_ROWS.labels(instance)
        self.published_messages = metrics.PUBLISHED_MESSAGES.labels(instance)
        self.published_bytes = metrics.PUBLISHED_BYTES.labels(instance)
        self.late_transactions = metrics.LATE_TRANSACTIONS.labels(instance)
        self.undecodable_values = metrics.UNDECODABLE_VALUES.labels(instance)
        self.claims = metrics.CLAIMS.labels(instance)
        self.dropped_names = metrics.DROPPED_NAMES.labels(instance)
        self.commits = metrics.COMMITS.labels(instance)
        self.commit_seconds = metrics.COMMIT_SECONDS.labels(instance)
        self.publish_seconds = metrics.PUBLISH_SECONDS.labels(instance)
        self.fences = metrics.FENCES.labels(instance)
        self.throttled_seconds = metrics.THROTTLED_SECONDS.labels(instance)
        self.gauges = InstanceGauges(instance)
        self._state: str | None = None
        with suppress(KeyError):
            metrics.STATE.remove(instance, REMOVED)

    def published_of_table(
        self, table: TableId, operation: str
    ) -> tuple[Counter, Counter, Counter]:
        """Return the counters of rows, transactions and bytes of a logical table.

        `operation` is INSERT, UPDATE, DELETE or COPY.
        """
        labels = self.instance, table.database, table.table, operation
        return (
            metrics.TABLE_ROWS.labels(*labels),
            metrics.TABLE_TRANSACTIONS.labels(*labels),
            metrics.TABLE_BYTES.labels(*labels),
        )

    def dropped_rows(self, cause: str) -> Counter:
        """Return the counter of rows that were left out for this cause.

        `cause` is a fixed word, never a table or database name: filter, operation, unmapped_db,
        unmapped_table, rule_operation, rule_condition, rule_fields, transform or skipped.
        """
        return metrics.DROPPED_ROWS.labels(self.instance, cause)

    def printed_rows(self, path: str, reason: str) -> Counter:
        """Return the counter of printed rows. `path` is a RowPath, `reason` a SlowReason or ""."""
        return metrics.PRINTED_ROWS.labels(self.instance, path, reason)

    def dead_letters(self, code: str) -> Counter:
        """Return the counter of dead letters with this error code."""
        return metrics.DEAD_LETTERS.labels(self.instance, code)

    def errors(self, code: str) -> Counter:
        """Return the counter of the instance's errors with this code."""
        return metrics.ERRORS.labels(self.instance, code)

    def aborts(self, code: str) -> Counter:
        """Return the counter of Kafka transactions that were aborted by an error with this code."""
        return metrics.ABORTS.labels(self.instance, code)

    def show_state(self, state: str) -> None:
        """Set the state's gauge to 1 and the former state's to 0."""
        if self._state is not None and self._state != state:
            metrics.STATE.labels(self.instance, self._state).set(0)
        metrics.STATE.labels(self.instance, state).set(1)
        self._state = state

    def remove_tables(self) -> None:
        """Remove the metrics of the instance's tables."""
        for metric in (metrics.TABLE_ROWS, metrics.TABLE_TRANSACTIONS, metrics.TABLE_BYTES):
            for labels in _series(metric, self.instance):
                metric.remove(*labels)

    def remove(self) -> None:
        """Remove every series of the instance except the one that says that it was removed on
        request.
        """
        for metric in metrics.OF_INSTANCES:
            for labels in _series(metric, self.instance):
                metric.remove(*labels)
        metrics.STATE.labels(self.instance, REMOVED).set(1)


def _series(metric: Counter | Gauge | Histogram, instance: str) -> set[tuple[str, ...]]:
    """The values of the labels of an instance's series."""
    (family,) = metric.collect()
    names = metrics.LABELS[family.name]
    return {
        tuple(each.labels[name] for name in names)
        for each in family.samples
        if each.labels.get("instance") == instance
    }

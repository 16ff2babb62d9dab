"""Publishes heartbeats of an instance that has no rows to publish (ADR 72)."""

from time import monotonic
from typing import Final

from relay.encode.report_encoder import encode_heartbeat, report_key
from relay.model.message import OutboundMessage
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.settings import InstanceSettings

_PARTITION: Final = 0


class Heartbeats:
    """Puts a heartbeat into the open batch if nothing was published for the configured interval;
    used by the publishing thread.

    The heartbeat is committed in the Kafka transaction of the position record that it names.
    """

    def __init__(
        self, instance: InstanceSettings, checkpoint: Checkpoint, stats: InstanceStats
    ) -> None:
        self._instance = instance.name
        self._topic = instance.heartbeat_topic
        self._interval_s = instance.heartbeat.interval_seconds
        self._checkpoint = checkpoint
        self._totals = stats.totals
        self._published = stats.totals.published_messages
        self._quiet_since_s = monotonic()

    def beat(self) -> None:
        """Put a heartbeat into the open batch if one is due and no source transaction is open."""
        if self._topic is None:
            return
        now_s, published = monotonic(), self._totals.published_messages
        if published != self._published or not self._checkpoint.is_empty:
            self._published, self._quiet_since_s = published, now_s
        elif (
            now_s - self._quiet_since_s >= self._interval_s
            and self._checkpoint.progress.between_transactions
        ):
            self._checkpoint.read_clock()
            self._checkpoint.add_own(self._message(self._topic))

    def _message(self, topic: str) -> OutboundMessage:
        record = self._checkpoint.progress.record
        value = encode_heartbeat(
            self._instance,
            record.positions,
            record.order,
            record.change_time_ms,
            self._checkpoint.publish_time_ms,
        )
        return OutboundMessage(topic, _PARTITION, report_key(self._instance), value, ())

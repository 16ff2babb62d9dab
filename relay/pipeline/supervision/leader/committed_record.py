"""Reads the position record at the start of a run, and checks that the instance may continue from
it.
"""

from relay.errors import HistoryChanged
from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.saved_position import position_lost
from relay.pipeline.ingest.group_rules import refuse_foreign_record
from relay.pipeline.messages.configuration_digest import known_digests
from relay.position import KafkaPositionStore
from relay.settings import InstanceSettings
from relay.state import InstanceStore


def committed_record(
    instance: InstanceSettings, store: KafkaPositionStore, notes: InstanceStore
) -> PositionRecord | None:
    """Return the position record in Kafka; None for an instance that never published.

    instance  the settings of the instance
    store     the position topic, which is created if it is missing
    notes     the instance's documents in ZooKeeper, which show whether it published before

    Raises PositionLost, HistoryChanged, the errors of Kafka, and those of ZooKeeper if there is no
    record.
    """
    made = store.ensure_topic()
    record = None if made else store.read()
    # With a record the note is not needed, so the instance can start while ZooKeeper does not
    # answer.
    noted = notes.started(instance.name) if record is None else None
    if lost := position_lost(instance.name, store.topic, noted, record):
        raise lost
    refuse_foreign_record(instance, record)
    refuse_changed_rules(instance, record)
    return record


def refuse_changed_rules(instance: InstanceSettings, record: PositionRecord | None) -> None:
    """Raise HistoryChanged if a transaction is half published and the filter or message settings
    have changed since.
    """
    if (
        record is not None
        and record.split is not None
        and record.split.configuration not in known_digests(instance)
    ):
        raise HistoryChanged(
            f"Part of the transaction at {record.split.begin} was published under other "
            f"filter or message settings.",
            remedy=(
                "Restore the settings until that transaction is published whole, then change them."
            ),
        )

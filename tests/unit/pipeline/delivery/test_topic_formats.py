"""The format of a topic is that of the record, also where an older relay wrote it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import FormatChanged, FormatsDiffer
from relay.model.records.position_record import PositionRecord
from relay.model.records.topic_partitioning import (
    PartitioningRules,
    TopicAgreement,
    TopicPartitioning,
)
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.delivery.topic_feeders import TopicFeeders, TopicFormats
from relay.settings import InstanceSettings

_GOLDEN = Path(__file__).parents[3] / "golden" / "position_records"
PLACING = TopicPartitioning(4, PartitioningRules("", True, "logical"))


class Agreements:
    """The agreement of topic `orders` in memory."""

    def __init__(self, agreement: TopicAgreement) -> None:
        self.agreement = agreement

    def read(self, _topic: str) -> TopicAgreement:
        return self.agreement

    def read_all(self, topics: tuple[str, ...]) -> dict[str, TopicAgreement]:
        return dict.fromkeys(topics, self.agreement)

    def change(self, _topic: str, change: Callable[[TopicAgreement], TopicAgreement]) -> Any:
        self.agreement = change(self.agreement)
        return self.agreement


def formats(record: PositionRecord | None, wanted: str, store: Agreements) -> TopicFormats:
    """Return the formats of an instance whose settings say `wanted`."""
    fields = {"name": "shop", "source": {"host": "h", "user": "u", "server_id": 7}}
    instance = InstanceSettings.model_validate({**fields, "message": {"format": wanted}})
    notes: Any = SimpleNamespace(topics=store, key_forms=None)
    known = PublishedPartitioning.of(record).formats
    return TopicFormats(known, instance, TopicFeeders(notes, "shop"))


@pytest.mark.parametrize(
    "file", sorted(_GOLDEN.glob("position_record.[1-8]*.json")), ids=lambda file: file.name
)
def test_versions_that_wrote_no_format_published_canal_json(file: Path) -> None:
    record = PositionRecord.from_bytes(file.read_bytes())
    (topic,) = record.partitions
    store = Agreements(TopicAgreement())
    with pytest.raises(FormatChanged, match="as canal-json, and the settings say debezium-json"):
        formats(record, "debezium-json", store).refuse_changed(topic)
    formats(record, "canal-json", store).refuse_changed(topic)


def test_an_older_relay_between_two_newer_ones_does_not_hide_a_changed_format() -> None:
    """It publishes canal-json, and writes record and agreement without formats."""
    read = PositionRecord.from_bytes((_GOLDEN / "position_record.5.json").read_bytes())
    written = replace(read, formats={"orders": "canal-json"})
    by_older = replace(PositionRecord.from_bytes(written.to_bytes()), formats={})
    agreed = TopicAgreement().with_feeder("shop", PLACING)
    store = Agreements(agreed)
    notes: Any = SimpleNamespace(topics=store, key_forms=None)
    feeders = TopicFeeders(notes, "shop")
    feeders.note_formats(PublishedPartitioning.of(by_older).formats)
    assert store.agreement.feeders["shop"].format == "canal-json"
    with pytest.raises(FormatChanged):
        formats(by_older, "debezium-json", store).refuse_changed("orders")
    with pytest.raises(FormatsDiffer, match="Instance shop publishes to topic orders as canal"):
        TopicFeeders(notes, "late").join("orders", PLACING, "debezium-json")


def test_a_topic_of_a_newer_record_keeps_its_format_and_an_unknown_one_has_none() -> None:
    file = _GOLDEN / "position_record.1.json"
    record = replace(PositionRecord.from_bytes(file.read_bytes()), formats={"orders": "avro"})
    assert PublishedPartitioning.of(record).formats == {"orders": "avro"}
    assert PublishedPartitioning.of(None).formats == {}

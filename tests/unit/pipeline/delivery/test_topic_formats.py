"""The format of a topic is that of the record, also where an older relay wrote it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import FormatChanged, FormatsDiffer, PartitionsChanged, StoreUnreachable
from relay.model.records.position_record import PositionRecord
from relay.model.records.topic_partitioning import (
    PartitioningRules,
    TopicAgreement,
    TopicPartitioning,
)
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.delivery.topic_feeders import TopicFeeders, TopicFormats
from relay.pipeline.delivery.topics import Topics
from relay.settings import InstanceSettings, KafkaSettings

_GOLDEN = Path(__file__).parents[3] / "golden" / "position_records"
PLACING = TopicPartitioning(4, PartitioningRules("", True, "logical"))


class Agreements:
    """The agreements of topics in memory; `agreement` is that of topic `orders`."""

    def __init__(self, agreement: TopicAgreement) -> None:
        self.by_name = {"orders": agreement}
        self.away = False

    @property
    def agreement(self) -> TopicAgreement:
        return self.read("orders")

    def read(self, name: str) -> TopicAgreement:
        if self.away:
            raise StoreUnreachable("away")
        return self.by_name.get(name, TopicAgreement())

    def read_all(self, topics: tuple[str, ...]) -> dict[str, TopicAgreement]:
        return {topic: self.read(topic) for topic in topics}

    def change(self, name: str, change: Callable[[TopicAgreement], TopicAgreement]) -> Any:
        self.by_name[name] = change(self.read(name))
        return self.by_name[name]


def settings(wanted: str, name: str = "shop", **fields: Any) -> InstanceSettings:
    source = {"host": "h", "user": "u", "server_id": 7}
    document = {"name": name, "source": source, "message": {"format": wanted}, **fields}
    return InstanceSettings.model_validate(document)


def formats(
    record: PositionRecord | None, wanted: str, store: Agreements, name: str = "shop"
) -> TopicFormats:
    """Return the formats of an instance whose settings say `wanted`."""
    notes: Any = SimpleNamespace(topics=store, key_forms=None)
    known = PublishedPartitioning.of(record).formats
    return TopicFormats(known, settings(wanted, name), TopicFeeders(notes, name))


def topics(store: Agreements, wanted: str, **fields: Any) -> Topics:
    """Return the topics of an instance without a position record."""
    notes: Any = SimpleNamespace(topics=store, key_forms=None)
    nothing: Any = None
    return Topics(
        KafkaSettings(bootstrap_servers="127.0.0.1:1"),
        settings(wanted, **fields),
        PublishedPartitioning.of(None),
        nothing,
        TopicFeeders(notes, "shop"),
        nothing,
        in_use=nothing,
    )


@pytest.mark.parametrize(
    "file", sorted(_GOLDEN.glob("position_record.[1-8]*.json")), ids=lambda file: file.name
)
def test_versions_that_wrote_no_format_published_canal_json(file: Path) -> None:
    record = PositionRecord.from_bytes(file.read_bytes())
    (topic,) = record.partitions
    store = Agreements(TopicAgreement())
    with pytest.raises(FormatChanged, match=r"canal-json .* now choose debezium-json"):
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


def test_without_a_record_the_agreement_names_the_format_of_a_topic() -> None:
    store = Agreements(TopicAgreement().with_feeder("shop", PLACING, "canal-json"))
    with pytest.raises(FormatChanged, match=r"canal-json .* now choose debezium-json"):
        topics(store, "debezium-json").partitions("orders")
    with pytest.raises(FormatChanged):
        formats(None, "debezium-json", store).keep_of_statements("orders.ddl")
    assert store.agreement.feeders["shop"].format == "canal-json"
    formats(None, "canal-json", store).refuse_changed("orders")
    waiting = Agreements(
        TopicAgreement()
        .with_feeder("other", PLACING, "canal-json")
        .with_feeder("shop", PLACING, "maxwell-json")
    )
    formats(None, "debezium-json", waiting).refuse_changed("orders")  # it published nothing
    store.away = True
    with pytest.raises(StoreUnreachable):
        formats(None, "canal-json", store).refuse_changed("orders")


@pytest.mark.parametrize(
    ("partition", "what"),
    [
        ({"partitions_num": 8}, "go to 4 partitions, and partitions_num is 8"),
        ({"partition_hash": ".*\\..*"}, "by other values of partition_hash"),
    ],
)
def test_without_a_record_the_agreement_names_the_partitions_of_a_topic(
    partition: dict[str, Any], what: str
) -> None:
    rules = settings("canal-json").partitioning_rules
    agreement = TopicAgreement().with_feeder("shop", TopicPartitioning(4, rules), "canal-json")
    store = Agreements(agreement)
    with pytest.raises(PartitionsChanged, match=what) as refused:
        topics(store, "canal-json", partition=partition).partitions("orders")
    assert "roma instance retire" in refused.value.way_out
    assert store.agreement == agreement


def test_two_instances_publish_statements_of_a_topic_in_one_format() -> None:
    store = Agreements(TopicAgreement())
    formats(None, "canal-json", store).keep_of_statements("orders.ddl")
    assert store.agreement == TopicAgreement(), "no row of the topic was published"
    with pytest.raises(FormatsDiffer, match=r"shop publishes to topic orders\.ddl as canal-json"):
        formats(None, "debezium-json", store, "late").keep_of_statements("orders.ddl")
    formats(None, "canal-json", store, "late").keep_of_statements("orders.ddl")
    with pytest.raises(FormatChanged):
        formats(None, "debezium-json", store).keep_of_statements("orders.ddl")


def test_rows_wait_where_another_instance_has_statements_in_another_format() -> None:
    store = Agreements(TopicAgreement())
    formats(None, "canal-json", store, "early").keep_of_statements("orders.ddl")
    with pytest.raises(FormatsDiffer):
        topics(store, "debezium-json").partitions("orders")
    assert store.agreement == TopicAgreement(), "it does not stop others by an entry"


def test_published_statements_are_noted_before_the_next_one() -> None:
    """An older relay noted none: a newcomer waits, and not the instance that was there."""
    store = Agreements(TopicAgreement())
    notes: Any = SimpleNamespace(topics=store, key_forms=None)
    TopicFeeders(notes, "shop").note_statements({"orders": "canal-json"})
    with pytest.raises(FormatsDiffer):
        formats(None, "debezium-json", store, "late").keep_of_statements("orders.ddl")
    TopicFeeders(notes, "third").note_statements({"orders": "maxwell-json"})
    formats(None, "canal-json", store).keep_of_statements("orders.ddl")


def test_statements_go_on_without_zookeeper_where_the_record_has_their_format() -> None:
    file = _GOLDEN / "position_record.1.json"
    record = PositionRecord.from_bytes(file.read_bytes())
    store = Agreements(TopicAgreement())
    store.away = True
    formats(record, "canal-json", store).keep_of_statements("orders.ddl")
    with pytest.raises(StoreUnreachable):
        formats(None, "canal-json", store).keep_of_statements("orders.ddl")

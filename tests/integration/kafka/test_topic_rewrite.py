"""Rewriting a topic on a real broker while others write to it."""

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from deploy.embedded import Kafka
from relay.audit import AuditEntry, AuditTrail
from relay.errors import (
    AuditUnreadable,
    ErasureInterrupted,
    KafkaNotPermitted,
    RelayError,
    StoreUnreachable,
)
from relay.kafka import PartitionReader, SegmentSetting, TopicRewrite
from relay.kafka.erasing import topic_rewrite
from relay.kafka.partition_reader import KeyAndValue
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName
from tests.support.rewrite_turn import LoneTurn


class Topic:
    """An audit topic with three records, and the rewrite that leaves the second one out."""

    def __init__(self, kafka: Kafka, name: str) -> None:
        self.settings = KafkaSettings(
            bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
        )
        trail = AuditTrail(self.settings, name)
        trail.ensure_topic()
        self.name, self.bootstrap = trail.topic, kafka.bootstrap
        self.turn = LoneTurn(f"{name}.erase")
        self.rewrite = TopicRewrite(
            self.settings, self.name, self.turn, AuditUnreadable, reading_s=3
        )
        for value in (b"a", b"secret", b"c"):
            self.send(value)

    def send(self, value: bytes) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap})
        producer.produce(self.name, value, b"key", 0)
        assert producer.flush(20) == 0

    @property
    def values(self) -> list[bytes | None]:
        reader = PartitionReader(self.settings, self.name, AuditUnreadable)
        return [value for _, value in reader.committed(*reader.ends())]

    @property
    def first(self) -> int:
        return PartitionReader(self.settings, self.name, AuditUnreadable).ends()[0]

    @property
    def segment_ms(self) -> str | None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        resource = ConfigResource(ResourceType.TOPIC, self.name)
        value = admin.describe_configs([resource])[resource].result(60)["segment.ms"].value
        return None if value is None else str(value)


def without_secret(record: KeyAndValue) -> KeyAndValue | None:
    return None if record[1] == b"secret" else record


@pytest.fixture
def topic(kafka: Kafka, fresh_name: FreshName) -> Topic:
    return Topic(kafka, fresh_name("rewrite"))


def test_what_others_append_meanwhile_stays(topic: Topic) -> None:
    before = topic.segment_ms

    sent: list[bytes] = []

    def change(record: KeyAndValue) -> KeyAndValue | None:
        if record[1] == b"secret" and not sent:
            sent.extend((b"meanwhile", b"secret"))
            for each in sent:
                topic.send(each)
        return without_secret(record)

    assert topic.rewrite.run(change) == (3, 5)
    assert topic.values == [b"a", b"c", b"meanwhile"]
    assert topic.first == 5
    assert (topic.segment_ms, topic.turn.notes) == (before, {})


def test_an_interrupted_rewrite_is_repeated(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(topic_rewrite, "delete_records", interrupted)
        with pytest.raises(KeyboardInterrupt):
            topic.rewrite.run(without_secret)
    assert topic.values == [b"a", b"secret", b"c", b"a", b"c"]
    topic.rewrite.run(without_secret)
    assert topic.values == [b"a", b"c"]


def test_an_open_transaction_deletes_nothing(topic: Topic) -> None:
    other = Producer(
        {"bootstrap.servers": topic.bootstrap, "transactional.id": f"{topic.name}.other"}
    )
    other.init_transactions(20)
    other.begin_transaction()
    other.produce(topic.name, b"open", b"key", 0)
    other.flush(20)
    with pytest.raises(AuditUnreadable):
        topic.rewrite.run(without_secret)
    other.commit_transaction(20)
    assert topic.first == 0
    topic.rewrite.run(without_secret)
    assert topic.values == [b"a", b"c", b"open"]


@pytest.mark.parametrize(
    "error", [ErasureInterrupted("lost"), StoreUnreachable("away")], ids=["lost", "away"]
)
def test_without_the_turn_nothing_is_deleted_and_the_setting_is_left_to_the_next_turn(
    topic: Topic, error: RelayError
) -> None:
    def lost() -> None:
        raise error

    def change(record: KeyAndValue) -> KeyAndValue | None:
        topic.turn.on_check = lost
        return without_secret(record)

    with pytest.raises(type(error)):
        topic.rewrite.run(change)
    assert topic.first == 0
    assert (topic.segment_ms, topic.turn.notes) == ("1", {topic.name: None})


def test_a_setting_that_kafka_refuses_to_put_back_stays_noted(
    topic: Topic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as after a change of the password, or of the rights, during the rewrite."""
    write = SegmentSetting.write

    def refused(self: SegmentSetting, name: str, value: str | None) -> None:
        if value != "1":
            raise KafkaNotPermitted("The principal may not.")
        write(self, name, value)

    monkeypatch.setattr(SegmentSetting, "write", refused)
    with pytest.raises(KafkaNotPermitted):
        topic.rewrite.run(without_secret)
    assert topic.turn.notes == {topic.name: None}


def test_a_setting_that_another_process_changed_ends_the_rewrite(topic: Topic) -> None:
    """A new segment is then not sure, so the bytes might stay in the files."""

    def change(record: KeyAndValue) -> KeyAndValue | None:
        SegmentSetting(topic.settings).write(topic.name, None)
        return without_secret(record)

    with pytest.raises(ErasureInterrupted, match="was changed during"):
        topic.rewrite.run(change)
    assert (topic.first, topic.turn.notes) == (0, {})


def test_a_topic_of_which_nothing_stays_is_empty(topic: Topic) -> None:
    assert topic.rewrite.run(lambda _: None) == (0, 3)
    topic.send(b"later")
    assert topic.values == [b"later"]


def test_erased_entries_of_the_trail_keep_their_chain(topic: Topic, fresh_name: FreshName) -> None:
    name = fresh_name("trail")
    trail = AuditTrail(topic.settings, name)
    trail.append(AuditEntry("ann", "a", comment="of Jane Roe"))
    trail.append(AuditEntry("ann", "b"))
    found = trail.holding(lambda contents: b"Jane Roe" in contents)
    trail.append(AuditEntry("ann", "c", comment="of Jane Roe, after the plan"))
    trail.erase(found, LoneTurn(f"{name}.erase"))
    comments = [each.comment for each in trail.entries(9)]
    assert comments == ["of Jane Roe, after the plan", "", ""]
    (problem,) = trail.verify().problems  # the act that names it is written by the command
    (erased,) = found
    assert erased.reference is not None
    assert f"Entry 1 of {erased.reference.writer} has no contents" in problem

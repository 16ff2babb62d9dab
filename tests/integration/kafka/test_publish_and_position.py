"""Rows and position in one transaction, on a real broker."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from deploy.embedded.servers.kafka import Kafka
from relay.errors import (
    BrokerUnreachable,
    Fenced,
    MessageTooLarge,
    PositionUnreadable,
    RelayError,
    TopicRefused,
    TransactionsRefused,
)
from relay.kafka import TopicAdmin, TopicSpec
from relay.kafka.partition_reader import PartitionReader
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, SplitProgress
from relay.position import KafkaPositionStore
from relay.publish import TransactionalProducer
from relay.settings import KafkaSettings, TransactionSettings
from tests.servers.fixtures import LOOKS_FOR_EXPIRED_MS
from tests.support.waiting import wait_until

RECORD = PositionRecord(
    source=SourcePosition(
        BinlogPosition("b.000001", 400), "0-1-7", SourceIdentity("", 1, 1_700_000_000)
    ),
    order=OrderPair(1_700_000_000_123, 77),
    epoch=0,
    change_time_ms=1_700_000_000_000,
    partitions={"orders": 4},
)


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


def producer(settings: KafkaSettings, name: str, timeout_ms: int = 15_000) -> TransactionalProducer:
    made = TransactionalProducer(settings, TransactionSettings(timeout_ms=timeout_ms), f"id.{name}")
    made.open()
    return made


def committed_values(
    settings: KafkaSettings, topic: str, isolation: str = "read_committed"
) -> list[bytes]:
    """Everything that a reader of this isolation sees now."""
    configuration = {
        "bootstrap.servers": settings.bootstrap_servers,
        "group.id": "t",
        "isolation.level": isolation,
    }
    with closing(
        Consumer({**configuration, "enable.partition.eof": True, "auto.offset.reset": "earliest"})
    ) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        values: list[bytes] = []
        while True:
            message = consumer.poll(10)
            assert message is not None, "the broker did not answer"
            if message.error() is not None:
                return values
            values.append(message.value() or b"")


@contextmanager
def row_under_way(settings: KafkaSettings, topic: str) -> Iterator[TransactionalProducer]:
    """A producer of whose open transaction one row is on the broker."""
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1))
    with closing(producer(settings, topic)) as old:
        old.send(OutboundMessage(topic, 0, None, b"old", ()))
        wait_until(
            lambda: committed_values(settings, topic, "read_uncommitted") == [b"old"],
            "the old row on the broker",
        )
        yield old


def test_a_record_is_found_again_with_every_field(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    store = KafkaPositionStore(settings, fresh_name("inst"), "i1")
    assert store.ensure_topic() is True
    assert store.ensure_topic() is False
    assert store.read() is None
    with closing(producer(settings, store.topic)) as sender:
        for number in range(60):
            sender.commit(store.message(replace(RECORD, epoch=number))).result(60)
        split = SplitProgress(
            BinlogPosition("b.000001", 400), "0-1-8", 12, 1_700_000_000_500, 3, "abc"
        )
        sender.commit(store.message(replace(RECORD, split=split))).result(60)
    assert store.read() == replace(RECORD, split=split)


def test_a_record_far_behind_aborted_ones_is_found(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    store = KafkaPositionStore(settings, fresh_name("inst"), "i1")
    store.ensure_topic()
    with closing(producer(settings, store.topic)) as sender:
        sender.commit(store.message(RECORD)).result(60)
    aborting = Producer(
        {"bootstrap.servers": settings.bootstrap_servers, "transactional.id": store.topic}
    )
    aborting.init_transactions(20)
    for _ in range(120):
        aborting.begin_transaction()
        message = store.message(replace(RECORD, epoch=9))
        aborting.produce(message.topic, message.value, message.key, message.partition)
        aborting.flush(20)  # on the broker, so that the abort leaves something to read over
        aborting.abort_transaction(20)
    assert store.read() == RECORD


def test_rows_of_an_aborted_batch_show_only_to_readers_that_forgot_their_isolation(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("rows")
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1))
    with closing(producer(settings, topic)) as sender:
        sender.send(OutboundMessage(topic, 0, b"k", b"aborted", ()))
        sender.abort()
        sender.commit(OutboundMessage(topic, 0, b"k", b"committed", ())).result(60)
    assert committed_values(settings, topic) == [b"committed"]


def test_the_older_producer_is_fenced_and_nothing_of_it_shows(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("rows")
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1))
    with closing(producer(settings, topic)) as old:
        old.send(OutboundMessage(topic, 0, None, b"old", ()))
        with closing(producer(settings, topic)) as new:
            with pytest.raises(Fenced):
                old.commit(OutboundMessage(topic, 0, None, b"old record", ())).result(60)
            new.commit(OutboundMessage(topic, 0, None, b"new", ())).result(60)
    assert committed_values(settings, topic) == [b"new"]


def test_a_fence_that_a_message_meets_is_told(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    """The client learns of the fence in the background, and from then on calls every message a
    fatal error.
    """
    topic = fresh_name("rows")
    with row_under_way(settings, topic) as old:

        def send_late() -> bool:
            old.send(OutboundMessage(topic, 0, None, b"late", ()))
            return False

        with closing(producer(settings, topic)), pytest.raises(Fenced):
            wait_until(send_late, "the fence")
    assert committed_values(settings, topic) == []


def test_a_fence_that_an_abort_meets_is_told(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    """Else the fenced relay would open its next producer, and fence its successor."""
    topic = fresh_name("rows")
    with (
        row_under_way(settings, topic) as old,
        closing(producer(settings, topic)),
        pytest.raises(Fenced),
    ):
        old.abort()
    assert committed_values(settings, topic) == []


def test_a_transaction_beyond_the_brokers_timeout_looks_fenced(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("rows")
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1))
    with closing(producer(settings, topic, timeout_ms=1_000)) as slow:
        slow.send(OutboundMessage(topic, 0, None, b"slow", ()))
        over = threading.Event()
        while slow.open_seconds < 1 + 2 * LOOKS_FOR_EXPIRED_MS / 1000:
            over.wait(0.5)
        with pytest.raises(RelayError) as raised:
            slow.commit(OutboundMessage(topic, 0, None, b"record", ())).result(60)
    assert type(raised.value) is Fenced
    assert committed_values(settings, topic) == []


def test_a_message_too_large_breaks_the_whole_batch(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("rows")
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1))
    with closing(producer(settings, topic)) as sender:
        sender.send(OutboundMessage(topic, 0, None, b"small", ()))
        with pytest.raises(MessageTooLarge):
            sender.send(OutboundMessage(topic, 0, None, b"x" * 1_500_000, ()))
        sender.abort()
    assert committed_values(settings, topic) == []


def test_a_position_hidden_by_an_open_transaction_is_not_taken_for_none(
    settings: KafkaSettings, fresh_name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults: dict[str, float] = PartitionReader.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(defaults, "reading_s", 1.0)
    store = KafkaPositionStore(settings, fresh_name("inst"), "i1")
    store.ensure_topic()
    with (
        closing(producer(settings, store.topic)) as sender,
        closing(producer(settings, store.topic + "other")) as sibling,
    ):
        sibling.send(OutboundMessage(store.topic, 0, b"other", b"x", ()))
        wait_until(
            lambda: committed_values(settings, store.topic, "read_uncommitted") == [b"x"],
            "the sibling's message on the broker",
        )
        sender.commit(store.message(RECORD)).result(60)
        with pytest.raises(PositionUnreadable):
            store.read()
        sibling.abort()
        assert store.read() == RECORD


def test_a_position_topic_that_forgets_is_refused(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    store = KafkaPositionStore(settings, fresh_name("inst"), "i1")
    TopicAdmin(settings).create(TopicSpec(store.topic, 1, 1, {"cleanup.policy": "delete"}))
    with pytest.raises(TopicRefused, match="compact"):
        store.ensure_topic()


def test_a_transaction_longer_than_the_brokers_allow_is_refused_with_both_numbers(
    settings: KafkaSettings,
) -> None:
    too_long = TransactionalProducer(
        settings, TransactionSettings(timeout_ms=900_001), "id.too-long"
    )
    with closing(too_long), pytest.raises(TransactionsRefused) as refused:
        too_long.open()
    assert refused.value.reason == (
        "transaction.timeout_ms is 900001, and the brokers' transaction.max.timeout.ms is 900000."
    )


def test_no_broker_is_said_the_same_by_every_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.publish.transactional_producer._INIT_SECONDS", 2.0)
    monkeypatch.setattr("relay.kafka.topics._REQUEST_SECONDS", 2.0)
    nobody = KafkaSettings(bootstrap_servers="127.0.0.1:1", client={"log_level": 0})
    deaf = TransactionalProducer(nobody, TransactionSettings(), "id.deaf")
    with (
        closing(deaf),
        pytest.raises(
            BrokerUnreachable, match=r"No Kafka broker answers at 127\.0\.0\.1:1\."
        ) as opening,
    ):
        deaf.open()
    with pytest.raises(BrokerUnreachable) as asking:
        TopicAdmin(nobody).broker_settings()
    assert str(asking.value) == str(opening.value)


def test_what_the_brokers_would_say_to_a_new_topic_is_asked_without_making_it(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    admin, topic = TopicAdmin(settings), fresh_name("asked")
    assert admin.create(TopicSpec(topic, 1, 1), only_ask=True)
    with pytest.raises(TopicRefused):
        admin.create(TopicSpec(topic, 1, 3), only_ask=True)
    assert admin.state(topic) is None


def test_no_message_to_a_fresh_topic_is_lost(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    """A broker that does not have a new partition yet refuses the first request and may accept the
    second.

    The first one, repeated, is then taken for a duplicate, reported as delivered, and gone. Seen in
    two of a hundred fresh topics with several requests under way.
    """
    name, partitions, rounds = fresh_name("fresh"), 8, 6
    topics = [f"{name}.{number}" for number in range(70)]
    pause = threading.Event()
    with closing(producer(settings.model_copy(update={"linger_ms": 1}), name)) as sender:
        for topic in topics:
            TopicAdmin(settings).create(TopicSpec(topic, partitions, 1))
            for _ in range(rounds):
                for partition in range(partitions):
                    sender.send(OutboundMessage(topic, partition, None, b"row", ()))
                pause.wait(0.003)  # so that the rounds leave in requests of their own
            sender.commit(OutboundMessage(topic, 0, None, b"record", ())).result(60)
    # One more for the marker of the transaction's end.
    expected = {partition: rounds + 1 + (partition == 0) for partition in range(partitions)}
    with closing(
        Consumer({"bootstrap.servers": settings.bootstrap_servers, "group.id": "t"})
    ) as reader:

        def ends(topic: str) -> dict[int, int]:
            return {
                each: reader.get_watermark_offsets(TopicPartition(topic, each), timeout=10)[1]
                for each in expected
            }

        wait_until(lambda: ends(topics[-1]) == expected, "the last transaction's end")
        assert {topic: found for topic in topics if (found := ends(topic)) != expected} == {}

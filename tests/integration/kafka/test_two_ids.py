"""Batches under two transactional ids by turns, on a real broker."""

import random
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from deploy.embedded import Kafka
from relay.errors import Fenced, MessageTooLarge, RelayError
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.message import OutboundMessage
from relay.position import KafkaPositionStore
from relay.publish import AlternatingProducer, TransactionalProducer
from relay.settings import KafkaSettings, TransactionSettings
from tests.integration.kafka.test_publish_and_position import RECORD, committed_values
from tests.support.waiting import wait_until

_SETTINGS = TransactionSettings(producers=2)


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


@pytest.fixture
def topic(settings: KafkaSettings, fresh_name: Callable[[str], str]) -> str:
    name = fresh_name("turns")
    TopicAdmin(settings).create(TopicSpec(name, 1, 1))
    return name


def alternating(settings: KafkaSettings, topic: str) -> AlternatingProducer:
    return AlternatingProducer(settings, _SETTINGS, (f"{topic}.1", f"{topic}.2"))


def row(topic: str, value: bytes) -> OutboundMessage:
    return OutboundMessage(topic, 0, None, value, ())


def publish(producer: AlternatingProducer, topic: str, numbers: range) -> None:
    """One batch for each number; the next one begins as soon as it may."""
    answers, free = [], threading.Event()
    for number in numbers:
        producer.send(row(topic, b"%d" % number))
        free.clear()
        answers.append(producer.commit_overlapping(row(topic, b"record"), free.set))
        wait_until(lambda: producer.overlaps or answers[-1].done(), "the next turn")
        if len(answers) > 1:
            answers[-2].result(60)
    answers[-1].result(60)


def test_batches_by_turns_are_in_order(settings: KafkaSettings, topic: str) -> None:
    with closing(alternating(settings, topic)) as producer:
        producer.open()
        publish(producer, topic, range(200))
        assert producer.sent_messages == 0
    values = committed_values(settings, topic)
    assert values == [each for number in range(200) for each in (b"%d" % number, b"record")]


def test_the_next_batch_is_sent_before_the_commit_is_answered(
    settings: KafkaSettings, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    finish = TransactionalProducer.finish

    def held(self: TransactionalProducer, record_topic: str) -> None:
        assert answered.wait(60)
        finish(self, record_topic)

    with closing(alternating(settings, topic)) as producer:
        producer.open()
        producer.commit(row(topic, b"proof")).result(60)
        monkeypatch.setattr(TransactionalProducer, "finish", held)
        first = producer.commit_overlapping(row(topic, b"first"), lambda: None)
        wait_until(lambda: producer.overlaps, "the acknowledgement")
        second = producer.commit_overlapping(row(topic, b"second"), lambda: None)
        wait_until(
            lambda: committed_values(settings, topic, "read_uncommitted")[-1] == b"second",
            "the second batch on the broker",
        )
        assert committed_values(settings, topic) == [b"proof"]
        answered.set()
        first.result(60)
        second.result(60)
    assert committed_values(settings, topic) == [b"proof", b"first", b"second"]


def test_a_newer_relay_fences_both_ids(settings: KafkaSettings, topic: str) -> None:
    with closing(alternating(settings, topic)) as old, closing(alternating(settings, topic)) as new:
        old.open()
        publish(old, topic, range(3))
        old.send(row(topic, b"open"))
        new.open()
        with pytest.raises(Fenced):
            old.commit(row(topic, b"late")).result(60)
        publish(new, topic, range(3, 6))
    values = [each for each in committed_values(settings, topic) if each != b"record"]
    assert values == [b"%d" % number for number in range(6)]


def test_a_fence_that_the_abort_of_one_id_meets_is_told(
    settings: KafkaSettings, topic: str
) -> None:
    with closing(alternating(settings, topic)) as old, closing(alternating(settings, topic)) as new:
        old.open()
        publish(old, topic, range(2))
        old.send(row(topic, b"open"))
        wait_until(
            lambda: committed_values(settings, topic, "read_uncommitted")[-1] == b"open",
            "the open row on the broker",
        )
        new.open()
        with pytest.raises(Fenced):
            old.abort()


def test_a_relay_that_slept_between_its_two_ids_publishes_nothing(
    settings: KafkaSettings, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(alternating(settings, topic)) as old, closing(alternating(settings, topic)) as new:
        opened = TransactionalProducer.open

        def slept(self: TransactionalProducer) -> None:
            opened(self)
            monkeypatch.setattr(TransactionalProducer, "open", opened)
            new.open()
            publish(new, topic, range(4))

        monkeypatch.setattr(TransactionalProducer, "open", slept)
        old.open()
        old.send(row(topic, b"late"))
        with pytest.raises(Fenced):
            old.commit_overlapping(row(topic, b"late"), lambda: None).result(60)
    assert b"late" not in committed_values(settings, topic)


def test_nothing_is_committed_behind_a_batch_that_failed(
    settings: KafkaSettings, topic: str
) -> None:
    small = settings.model_copy(update={"message_max_bytes": 2_000_000})
    with closing(alternating(small, topic)) as producer:
        producer.open()
        producer.commit(row(topic, b"proof")).result(60)
        producer.send(
            row(topic, random.Random(1).randbytes(1_500_000))
        )  # the broker's limit is lower
        failed = producer.commit_overlapping(row(topic, b"record"), lambda: None)
        with pytest.raises(MessageTooLarge):
            failed.result(60)
        producer.send(row(topic, b"behind"))
        with pytest.raises(RelayError):
            producer.commit(row(topic, b"record")).result(60)
        producer.abort()
    assert committed_values(settings, topic) == [b"proof"]


def test_a_batch_alone_is_whole_everywhere_before_the_next_one(
    settings: KafkaSettings, topic: str
) -> None:
    with closing(alternating(settings, topic)) as producer:
        producer.open()
        publish(producer, topic, range(2))
        producer.commit(row(topic, b"statement")).result(60)
        assert not producer.overlaps
        publish(producer, topic, range(2, 4))
    values = [each for each in committed_values(settings, topic) if each != b"record"]
    assert values == [b"0", b"1", b"statement", b"2", b"3"]


def test_a_barrier_is_committed_under_the_id_that_is_not_the_next_one(
    settings: KafkaSettings, topic: str
) -> None:
    with closing(alternating(settings, topic)) as producer:
        producer.open()
        publish(producer, topic, range(3))
        assert producer.needs_barrier
        producer.commit_barrier(row(topic, b"barrier"), [row(topic, b"beside")]).result(60)
        assert (producer.needs_barrier, producer.overlaps) == (False, False)
        producer.commit(row(topic, b"statement")).result(60)
        publish(producer, topic, range(3, 6))
    values = [each for each in committed_values(settings, topic) if each != b"record"]
    assert values == [b"0", b"1", b"2", b"beside", b"barrier", b"statement", b"3", b"4", b"5"]


def test_the_record_of_an_overlapping_batch_is_found(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    store = KafkaPositionStore(settings, fresh_name("inst"), "i1")
    store.ensure_topic()
    with closing(alternating(settings, store.topic)) as producer:
        producer.open()
        for epoch in range(5):
            record = replace(RECORD, epoch=epoch, second_id=True)
            producer.commit_overlapping(store.message(record), lambda: None).result(60)
    assert store.read() == replace(RECORD, epoch=4, second_id=True)

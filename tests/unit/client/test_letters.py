"""The dead letter topic that a client makes."""

import logging
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException

from roma_client.errors import BrokerUnreachable, CorruptMessage, DeadLetterFailed
from roma_client.kafka import dead_letters
from roma_client.kafka.dead_letters import DeadLetterTopic, store_corrupt
from roma_client.metrics import Metrics
from tests.support.clients.made_records import row_record

RECORD = row_record([{"id": "1"}])


class Broker:
    """Topics, and a producer whose messages get these answers. `asked`: topics to create."""

    def __init__(self, *topics: str) -> None:
        self.topics = frozenset(topics)
        self.asked: list[Any] = []
        self.refusal: KafkaError | None = None
        self.answers: list[KafkaError | None] = []
        self.config: dict[str, Any] = {}
        self._sent: list[Any] = []

    def create_topics(self, topics: list[Any]) -> dict[str, Any]:
        self.asked += topics
        error = None if self.refusal is None else KafkaException(self.refusal)
        return {each.topic: Mock(result=Mock(side_effect=error)) for each in topics}

    def produce(self, *_: Any, on_delivery: Any, **__: Any) -> None:
        self._sent.append(on_delivery)

    def flush(self, _seconds: float) -> int:
        """Answer as many messages as there are answers; return the number of the others."""
        while self._sent and self.answers:
            self._sent.pop(0)(self.answers.pop(0), None)
        return len(self._sent)

    def producer(self, config: dict[str, Any]) -> "Broker":
        self.config = config
        return self


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(dead_letters, "AdminClient", lambda _: made)
    monkeypatch.setattr(dead_letters, "Producer", made.producer)
    monkeypatch.setattr(
        dead_letters, "present_topics", lambda _, topics: made.topics & frozenset(topics)
    )
    return made


def test_letters_of_any_size_stay_until_an_operator_deletes_them(broker: Broker) -> None:
    broker.answers.append(None)
    DeadLetterTopic({}, "letters", "group").store(RECORD, "poison")
    (topic,) = broker.asked
    assert (topic.topic, topic.config["retention.ms"]) == ("letters", "-1")
    assert int(topic.config["max.message.bytes"]) == broker.config["message.max.bytes"] > 10**8


def test_a_client_that_may_not_create_topics_uses_one_that_exists(broker: Broker) -> None:
    broker.refusal = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    with pytest.raises(DeadLetterFailed, match="TOPIC_AUTHORIZATION_FAILED"):
        DeadLetterTopic({}, "letters", "group").store(RECORD, "poison")
    broker.topics, broker.answers = frozenset({"letters"}), [None]
    DeadLetterTopic({}, "letters", "group").store(RECORD, "poison")


def test_another_client_may_create_the_topic_meanwhile(broker: Broker) -> None:
    broker.refusal = KafkaError(KafkaError.TOPIC_ALREADY_EXISTS)
    broker.answers.append(None)
    DeadLetterTopic({}, "letters", "group").store(RECORD, "poison")


def test_a_letter_is_stored_only_if_the_brokers_confirm_it(broker: Broker) -> None:
    letters = DeadLetterTopic({}, "letters", "group")
    with pytest.raises(DeadLetterFailed, match="no answer in time"):
        letters.store(RECORD, "poison")
    broker.answers = [None, KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)]
    with pytest.raises(DeadLetterFailed, match="MSG_SIZE_TOO_LARGE"):
        letters.store(RECORD, "poison")


def test_a_letter_that_the_brokers_have_is_stored_while_those_of_other_threads_wait(
    broker: Broker,
) -> None:
    letters = DeadLetterTopic({}, "letters", "group")
    broker.answers = [None]
    produce = broker.produce

    def also_of_another_thread(*arguments: Any, on_delivery: Any, **others: Any) -> None:
        produce(*arguments, on_delivery=on_delivery, **others)
        produce(on_delivery=Mock())

    broker.produce = also_of_another_thread  # type: ignore[method-assign]
    letters.store(RECORD, "poison")


def test_an_outage_while_the_topic_is_looked_for_is_a_named_failure(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Mock(side_effect=BrokerUnreachable("no broker answers"))
    monkeypatch.setattr(dead_letters, "present_topics", away)
    with pytest.raises(DeadLetterFailed, match="no broker answers"):
        DeadLetterTopic({}, "letters", "group").store(RECORD, "poison")


def test_a_corrupt_record_that_is_stored_is_counted_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, logger="roma_client")
    letters, metrics = Mock(spec=DeadLetterTopic), Mock(spec=Metrics)
    store_corrupt(letters, metrics, RECORD, CorruptMessage("It is no message."))
    letters.store.assert_called_once()
    metrics.happened.assert_called_once_with("corrupt")
    (entry,) = caplog.records
    assert "corrupt_record_stored" in entry.message
    assert "('shop', 0, 0)" in entry.message
    failing = Mock(spec=DeadLetterTopic, store=Mock(side_effect=DeadLetterFailed("away")))
    with pytest.raises(DeadLetterFailed):
        store_corrupt(failing, metrics, RECORD, CorruptMessage("It is no message."))
    metrics.happened.assert_called_once()

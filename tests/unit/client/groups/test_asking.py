"""Questions to Kafka while brokers are away, or a group's coordinator moves."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from roma_client.errors import BrokerUnreachable, NotPermitted, RowsExpired, TopicMissing
from roma_client.kafka import asking
from roma_client.kafka.asking import answered
from roma_client.kafka.failures import client_error
from roma_client.kafka.move_follower import MoveFollower, next_options
from roma_client.kafka.options import FeedOptions
from roma_client.records.decoding import Reading
from roma_client.records.moved import Followed
from roma_client.records.selection import Selection
from tests.support.clients.fake_consumer import NO_OFFSET, TIMED_OUT, WAIT_COORD

AWAY: int = KafkaError._TRANSPORT  # noqa: SLF001  # local errors begin like that


def question(*codes: int) -> Callable[[], str]:
    """Return a question that gets these errors before it is answered."""
    return Mock(side_effect=[*(KafkaException(KafkaError(each)) for each in codes), "answer"])


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time that passes only while a question is repeated."""
    fake = SimpleNamespace(now=0.0)
    fake.monotonic = lambda: fake.now

    def sleep(seconds: float) -> None:
        fake.now += seconds

    fake.sleep = sleep
    monkeypatch.setattr(asking, "time", fake)
    return fake


def test_a_question_is_repeated_while_brokers_are_away_and_no_longer_than_permitted() -> None:
    assert answered(question(AWAY, TIMED_OUT, WAIT_COORD)) == "answer"
    with pytest.raises(KafkaException, match="_TRANSPORT"):
        answered(question(*[AWAY] * 100), patience_seconds=1)


def test_a_refusal_is_raised_at_once(clock: SimpleNamespace) -> None:
    with pytest.raises(KafkaException):
        answered(question(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert clock.now == 0


@pytest.mark.parametrize("code", [AWAY, TIMED_OUT, WAIT_COORD])
def test_a_client_that_reads_to_the_end_of_a_topic_outlives_a_restart_of_the_broker(
    code: int,
) -> None:
    assert _next(KafkaError(code)) is None
    with pytest.raises(NotPermitted):
        _next(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))


def _next(error: KafkaError) -> Any:
    consumer = Mock()
    consumer.list_topics.side_effect = KafkaException(error)
    consumer.committed.return_value = [TopicPartition("shop", 0)]
    followed = Followed("shop", "t", "shop")
    options = FeedOptions("g", ("shop",), Selection(bool), Reading(), {}, follow=followed)
    return next_options(consumer, options, MoveFollower(followed, 60), [])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, NotPermitted),
        (KafkaError.GROUP_AUTHORIZATION_FAILED, NotPermitted),
        (KafkaError.SASL_AUTHENTICATION_FAILED, NotPermitted),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, TopicMissing),
        (AWAY, BrokerUnreachable),
        (NO_OFFSET, RowsExpired),
    ],
)
def test_an_error_of_kafka_has_a_name_a_place_and_a_remedy(
    code: int, expected: type[Exception]
) -> None:
    error = client_error(KafkaError(code), "reading as group billing")
    assert type(error) is expected
    assert ("reading as group billing" in error.reason, error.remedy != "") == (True, True)

"""Without Kafka transactions: what a partition shows is a beginning of what was sent, with nothing
left out in its middle.
"""

import random
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import closing

import pytest

from deploy.embedded import Kafka
from relay.errors import BrokerUnreachable, MessageTooLarge
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.message import OutboundMessage
from relay.publish import IdempotentProducer
from relay.settings import KafkaSettings, TransactionSettings
from tests.integration.kafka.test_publish_and_position import committed_values
from tests.support.waiting import wait_until

TIMEOUT_MS = 2000


def opened(settings: KafkaSettings) -> IdempotentProducer:
    made = IdempotentProducer(
        settings, TransactionSettings(delivery="at_least_once", timeout_ms=TIMEOUT_MS), "loose"
    )
    made.open()
    return made


def row(topic: str, value: bytes) -> OutboundMessage:
    return OutboundMessage(topic, 0, None, value, ())


def send_a_batch(sender: IdempotentProducer, topic: str, *values: bytes) -> None:
    """Raises what one of the messages is refused for: at once where that is known by then, else at
    the commit.
    """
    for value in values:
        sender.send(row(topic, value))
    sender.commit(row(topic, b"record")).result(60)


def without_repeats(values: list[bytes]) -> list[bytes]:
    """What a consumer keeps that drops what it has seen before."""
    return list(dict.fromkeys(values))


def test_a_message_that_waited_too_long_is_not_overtaken(new_kafka: Callable[..., Kafka]) -> None:
    """A later row must not become visible without an earlier one: read again, the earlier one would
    come after it.
    """
    broker = new_kafka()
    settings = KafkaSettings(
        bootstrap_servers=broker.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    TopicAdmin(settings).create(TopicSpec("rows", 1, 1))
    values = [b"%d" % number for number in range(8)]
    with closing(opened(settings)) as sender:
        sender.commit(row("rows", values[0])).result(60)
        broker.pause()
        sender.send(row("rows", values[1]))
        wait_until(lambda: sender.open_seconds > 0.2, "the first row being on its way")
        sender.send(row("rows", values[2]))
        wait_until(
            lambda: sender.open_seconds > 0.9 * TIMEOUT_MS / 1000,
            "most of the second row's time being over",
        )
        for value in values[3:7]:
            sender.send(row("rows", value))
        commit = sender.commit(row("rows", values[7]))
        wait_until(
            lambda: sender.open_seconds > 1.4 * TIMEOUT_MS / 1000,
            "the second row's time being over",
        )
        broker.resume()
        wait((commit,), 30)
    with closing(opened(settings)) as again:
        for value in values[1:7]:
            again.send(row("rows", value))
        again.commit(row("rows", values[7])).result(60)
    assert without_repeats(committed_values(settings, "rows")) == values


def test_a_broker_that_takes_nothing_is_unreachable(new_kafka: Callable[..., Kafka]) -> None:
    broker = new_kafka()
    settings = KafkaSettings(
        bootstrap_servers=broker.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    TopicAdmin(settings).create(TopicSpec("rows", 1, 1))
    with closing(opened(settings)) as sender:
        sender.commit(row("rows", b"0")).result(60)
        broker.pause()
        sender.send(row("rows", b"1"))
        with pytest.raises(BrokerUnreachable, match="accepted no message"):
            sender.commit(row("rows", b"2")).result(60)


def test_a_message_that_the_broker_refuses_is_not_overtaken(
    kafka: Kafka, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("rows")
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap,
        replication_factor=1,
        min_insync_replicas=1,
        batch_bytes=1000,
    )
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1, {"max.message.bytes": "2000"}))
    with closing(opened(settings)) as sender:
        sender.commit(row(topic, b"0")).result(60)
        with pytest.raises(MessageTooLarge):
            send_a_batch(
                sender,
                topic,
                random.Random(7).randbytes(5000),
                *(b"%d" % number for number in range(2000)),
            )
    assert committed_values(settings, topic) == [b"0"]

"""Blocks of printed messages reach Kafka as they are, whichever way they are handed over."""

import random
import struct
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from deploy.embedded.servers.kafka import Kafka
from relay.compiled import COMPILED
from relay.deadline import Deadline
from relay.errors import MessageTooLarge
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.message import BLOCK_HEAD, Headers, OutboundMessage, PrintedMessages
from relay.publish import BatchProducer, IdempotentProducer, TransactionalProducer
from relay.settings import KafkaSettings, TransactionSettings

needs_the_sender = pytest.mark.skipif(not COMPILED, reason="the compiled sender was not built")

PARTITIONS = 3
ORDER = b"1700000000123.0000000000000000"
TAGS: Headers = (("tag", b"orders"), ("empty", b""))


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


@pytest.fixture(params=["blocks", "one_by_one"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the client's plugin, or as if this build of the client took none."""
    if request.param != "blocks":
        if COMPILED:
            monkeypatch.setattr("relay.compiled.kafka_client.block_sender.load", _refuse)
    elif not COMPILED:
        pytest.skip("the compiled sender was not built")


def _refuse(path: str) -> None:
    raise OSError(f"{path} is not taken")


def printed(values: list[bytes], tail: Headers = TAGS) -> PrintedMessages:
    """Messages of which every second has a key, every third several rows."""
    block = b""
    for number, value in enumerate(values):
        key = b"key %d" % number if number % 2 else None
        orders = b"0,1" if number % 3 == 0 else None
        sizes = [-1 if part is None else len(part) for part in (value, key, orders)]
        block += (
            BLOCK_HEAD.pack(number % PARTITIONS, *sizes)
            + ORDER
            + b"%03d" % (number % 1000)
            + (orders or b"")
            + (key or b"")
            + value
        )
    return PrintedMessages(len(values), sum(map(len, values)), block, ("order", "orders"), tail)


def open_producer(settings: KafkaSettings, name: str, delivery: str) -> BatchProducer:
    kind = TransactionalProducer if delivery == "exactly_once" else IdempotentProducer
    made = kind(settings, TransactionSettings(timeout_ms=15_000), name)
    made.open()
    return made


def committed(settings: KafkaSettings, topic: str) -> list[OutboundMessage]:
    configuration = {
        "bootstrap.servers": settings.bootstrap_servers,
        "group.id": "t",
        "enable.partition.eof": True,
    }
    found: list[OutboundMessage] = []
    with closing(Consumer(configuration)) as consumer:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
        ends = 0
        while ends < PARTITIONS:
            message = consumer.poll(10)
            assert message is not None, "the broker did not answer"
            if message.error() is not None:
                ends += 1
                continue
            headers: Any = message.headers() or []
            found.append(
                OutboundMessage(
                    topic, message.partition() or 0, message.key(), message.value(), tuple(headers)
                )
            )
    return found


def by_partition(messages: list[OutboundMessage]) -> list[list[OutboundMessage]]:
    return [
        [each for each in messages if each.partition == partition]
        for partition in range(PARTITIONS)
    ]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_printed_messages_arrive_whole_and_in_order(
    settings: KafkaSettings, fresh_name: Callable[[str], str], delivery: str
) -> None:
    topic = fresh_name("printed")
    TopicAdmin(settings).create(TopicSpec(topic, PARTITIONS, 1))
    wanted = []
    with closing(open_producer(settings, topic, delivery)) as sender:
        for batch in range(3):
            parts = [
                printed([b"v%d.%d" % (batch, number) for number in range(size)])
                for size in (1, 500, 7)
            ]
            for part in (*parts, printed([b"x" * 200_000], ())):
                sender.send_printed(topic, part)
                wanted += [*part.each(topic)]
            record = OutboundMessage(topic, batch, b"record", b"r%d" % batch, ())
            assert sender.sent_messages == 509
            sender.commit(record).result(60)
            wanted.append(record)
    assert by_partition(committed(settings, topic)) == by_partition(wanted)


@pytest.mark.usefixtures("way")
def test_a_full_queue_is_waited_for(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("printed")
    TopicAdmin(settings).create(TopicSpec(topic, PARTITIONS, 1))
    small = settings.model_copy(update={"client": {"queue.buffering.max.messages": 50}})
    messages = printed([b"%d" % number for number in range(1000)])
    with closing(open_producer(small, topic, "at_least_once")) as sender:
        sender.send_printed(topic, messages)
        sender.commit(OutboundMessage(topic, 0, None, b"record", ())).result(60)
    assert len(committed(settings, topic)) == 1001


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_a_message_that_the_broker_refuses_fails_the_commit_by_its_name(
    settings: KafkaSettings, fresh_name: Callable[[str], str], delivery: str
) -> None:
    topic = fresh_name("printed")
    TopicAdmin(settings).create(TopicSpec(topic, PARTITIONS, 1, {"max.message.bytes": "1000"}))
    with closing(open_producer(settings, topic, delivery)) as sender:
        sender.send_printed(topic, printed([b"small", random.Random(7).randbytes(5_000)]))
        with pytest.raises(MessageTooLarge, match=topic):
            sender.commit(OutboundMessage(topic, 0, None, b"record", ())).result(60)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_a_message_that_the_broker_refuses_while_others_are_handed_over_is_named(
    settings: KafkaSettings, fresh_name: Callable[[str], str], delivery: str
) -> None:
    topic = fresh_name("printed")
    TopicAdmin(settings).create(TopicSpec(topic, PARTITIONS, 1, {"max.message.bytes": "1000"}))
    others, deadline = printed([b"small"] * 100), Deadline.after(60)

    def hand_over() -> None:
        sender.send_printed(topic, printed([random.Random(7).randbytes(5_000)]))
        while not deadline.passed:
            sender.send_printed(topic, others)

    with (
        closing(open_producer(settings, topic, delivery)) as sender,
        pytest.raises(MessageTooLarge, match=topic),
    ):
        hand_over()


@pytest.mark.usefixtures("way")
def test_a_message_that_the_client_refuses_is_named(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("printed")
    TopicAdmin(settings).create(TopicSpec(topic, PARTITIONS, 1))
    small = settings.model_copy(update={"message_max_bytes": 5_000})
    with (
        closing(open_producer(small, topic, "exactly_once")) as sender,
        pytest.raises(MessageTooLarge, match=topic),
    ):
        sender.send_printed(topic, printed([b"small", bytes(6_000)]))


@needs_the_sender
def test_several_clients_of_one_process_do_not_mix(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topics = [fresh_name("printed") for _ in range(3)]
    for topic in topics:
        TopicAdmin(settings).create(TopicSpec(topic, PARTITIONS, 1))
    senders = [open_producer(settings, topic, "exactly_once") for topic in topics]
    for topic, sender in zip(topics, senders, strict=True):
        sender.send_printed(topic, printed([topic.encode()] * 10))
    senders[1].abort()
    for number in 0, 2:
        senders[number].commit(OutboundMessage(topics[number], 0, None, b"record", ())).result(60)
    for sender in senders:
        sender.close()
    assert [len(committed(settings, topic)) for topic in topics] == [11, 0, 11]


@needs_the_sender
@pytest.mark.parametrize(
    "damage",
    [
        lambda block: block[:-1],
        lambda block: block[:20],
        lambda block: struct.pack("=iiii", 0, -5, -1, -1) + block[16:],
        lambda block: struct.pack("=iiii", 0, 2**31 - 1, 2**31 - 1, 2**31 - 1) + block[16:],
        lambda block: struct.pack("=iiii", 0, 3, 9_000, -1) + block[16:],
    ],
)
def test_a_damaged_block_is_told(
    settings: KafkaSettings, fresh_name: Callable[[str], str], damage: Callable[[bytes], bytes]
) -> None:
    topic = fresh_name("printed")
    messages = printed([b"value"])
    with (
        closing(open_producer(settings, topic, "at_least_once")) as sender,
        pytest.raises(ValueError, match="damaged at byte 0"),
    ):
        sender.send_printed(topic, messages._replace(block=damage(messages.block)))

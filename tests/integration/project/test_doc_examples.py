"""The consumers of docs/howto/consume-a-topic.md run unchanged against a real broker.

Those in Java and Go are files, which tests/integration/kafka/test_consumer_examples.py runs.
"""

import re
from pathlib import Path
from types import TracebackType

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from deploy.embedded import Kafka
from relay.kafka import TopicAdmin, TopicSpec
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName

_PAGE = (Path(__file__).parents[3] / "docs" / "howto" / "consume-a-topic.md").read_text(
    encoding="utf-8"
)
_READING = _PAGE.partition("\n## Examples\n")[2]
_BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", _READING, re.MULTILINE | re.DOTALL)


def _block(language: str, word: str = "") -> str:
    """The page's first example in this language that holds the word."""
    return next(
        str(text) for written_in, text in _BLOCKS if written_in == language and word in text
    )


@pytest.fixture
def topic(kafka: Kafka, fresh_name: FreshName) -> str:
    """A topic with an aborted message, a tombstone and two committed rows.

    The key of the last one is `last`.
    """
    name = fresh_name("examples")
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    TopicAdmin(settings).create(TopicSpec(name, 1, 1, {}))
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": name})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(name, key="aborted", value="x", headers=[("order", b"1")])
    producer.flush(20)
    producer.abort_transaction(20)
    producer.begin_transaction()
    producer.produce(name, key="first", value="a", headers=[("order", b"2"), ("tag", b"t")])
    producer.produce(name, key="gone", value=None, headers=[("order", b"3"), ("tag", b"t")])
    producer.produce(name, key="last", value="b", headers=[("order", b"4"), ("tag", b"t")])
    producer.commit_transaction(20)
    return name


class _Enough(Exception):
    """Ends the endless loop of an example."""


class _ClosingConsumer:
    """Keeps the consumers that an example makes, and closes them."""

    def __init__(self) -> None:
        self._made: list[Consumer] = []

    def __call__(self, configuration: dict[str, str | int | bool]) -> Consumer:
        self._made.append(Consumer(configuration))
        return self._made[-1]

    def __enter__(self) -> "_ClosingConsumer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for consumer in self._made:
            consumer.close()


def _adapted(text: str, kafka: Kafka, topic: str) -> str:
    return (
        text.replace("kafka:9092", kafka.bootstrap)
        .replace("topic1", topic)
        .replace("orders-cache", topic)
    )


def test_python(kafka: Kafka, topic: str) -> None:
    seen: list[tuple[bytes, str, bytes]] = []

    def apply(key: bytes, order: str, value: bytes) -> None:
        seen.append((key, order, value))
        if key == b"last":
            raise _Enough

    with _ClosingConsumer() as make, pytest.raises(_Enough):
        exec(  # noqa: S102
            _adapted(_block("python"), kafka, topic),
            {"Consumer": make, "KafkaException": KafkaException, "apply": apply},
        )
    assert seen == [(b"first", "2", b"a"), (b"last", "4", b"b")]


@pytest.mark.parametrize(("language", "text"), _BLOCKS)
def test_every_example_reads_committed(language: str, text: str) -> None:
    setting = r"isolation.?level\W+(kgo\.)?read_?committed"
    assert re.search(setting, text, re.IGNORECASE), language


def test_there_is_an_example_for_each_reader() -> None:
    assert [language for language, _ in _BLOCKS] == ["java", "go", "python", "sql", "python", ""]
    assert "readStream" in _block("python", "spark")

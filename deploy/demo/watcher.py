"""An example consumer: reads committed messages and records the time at which each arrived."""

import threading
from time import monotonic
from types import TracebackType
from typing import Any, Final, Self

import orjson
from confluent_kafka import Consumer, TopicPartition

from deploy.demo.programs import TOPIC
from deploy.embedded import Kafka
from deploy.embedded.errors import NotReady

_TOPIC_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.1
_TOPIC_POLL_SECONDS: Final = 0.05


class Watcher:
    """Counts the topic's messages from the oldest on, in a separate thread.

    messages  number of messages received
    seen_at   note of an order → monotonic seconds at which its message arrived
    """

    def __init__(self, kafka: Kafka) -> None:
        self.messages = 0
        self.last_s = 0.0
        self.seen_at: dict[str, float] = {}
        self._consumer = Consumer(
            {
                "bootstrap.servers": kafka.bootstrap,
                "group.id": "demo-watcher",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
            }
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)

    def __enter__(self) -> Self:
        partitions = self._partitions()
        self._consumer.assign([TopicPartition(TOPIC, number, 0) for number in partitions])
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()

    def _partitions(self) -> list[int]:
        """Return the topic's partitions; the relay creates the topic with the first row."""
        deadline, pause = monotonic() + _TOPIC_SECONDS, threading.Event()
        while monotonic() < deadline:
            found = self._consumer.list_topics(timeout=_TOPIC_SECONDS).topics.get(TOPIC)
            if found is not None and found.partitions:
                return list(found.partitions)
            pause.wait(_TOPIC_POLL_SECONDS)
        raise NotReady(f"The relay made no topic {TOPIC} in {_TOPIC_SECONDS} s.")

    def _run(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(_POLL_SECONDS)
            if message is not None and message.error() is None:
                self._note(message.value())

    def _note(self, value: bytes | None) -> None:
        self.messages += 1
        self.last_s = monotonic()
        if value is not None and b'"live ' in value:
            row: dict[str, Any] = orjson.loads(value)["data"][0]
            self.seen_at[row["note"]] = self.last_s

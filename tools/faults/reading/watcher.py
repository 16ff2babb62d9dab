"""A read_committed consumer that runs during faults, and measures the longest time without a
message.
"""

import threading
from contextlib import closing, suppress
from time import monotonic
from typing import Final

import orjson
from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tools.faults.reading.tally import Tally

_POLL_S: Final = 0.1
_LOOK_FOR_TOPIC_S: Final = 0.2


class Watcher:
    """Reads one topic from its beginning in a separate thread. `partitions` has the numbers of the
    partitions in which it found messages.
    """

    def __init__(self, bootstrap: str, topic: str, *, drops_repeats: bool = False) -> None:
        self._drops_repeats = drops_repeats
        self.tally = Tally(drops_repeats=drops_repeats)
        self.partitions: set[int] = set()
        self._newest: dict[int, tuple[str, int]] = {}
        self._configuration = {
            "bootstrap.servers": bootstrap,
            "group.id": "faults",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
            "fetch.wait.max.ms": 20,
            "reconnect.backoff.max.ms": 500,
        }
        self._topic = topic
        self._end = threading.Event()
        self._again = threading.Event()
        self._before: int | None = None
        self._silence_lock = threading.Lock()
        self._heard_s = monotonic()
        self._silence_s = 0.0
        self._thread = threading.Thread(target=self._run, name="watcher")

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(30)

    @property
    def copy(self) -> dict[int, int]:
        """Return the table of a consumer: for each key the change with the greatest `order`."""
        return {key: n for key, (_, n) in self._newest.items()}

    @property
    def reads_whole(self) -> bool:
        """Return True if the topic has every change: it was not deleted and created again."""
        return self._before is None

    def measure_silence(self) -> None:
        """Begin to measure the longest time without a message."""
        with self._silence_lock:
            self._heard_s, self._silence_s = monotonic(), 0.0

    @property
    def silence_s(self) -> float:
        """Return the longest time in seconds without a message since `measure_silence`, up to the
        last message.
        """
        with self._silence_lock:
            return self._silence_s

    def begin_again(self, before: int | None = None) -> None:
        """Read the topic from its beginning, which no longer has the first `before` changes."""
        self.partitions = set()
        self._before = before
        self._again.set()

    def _run(self) -> None:
        while not self._end.is_set():
            self._again.clear()
            self.tally = Tally(self._before, drops_repeats=self._drops_repeats)
            with closing(Consumer(self._configuration)) as consumer:
                if self._find(consumer):
                    self._read(consumer)

    def _find(self, consumer: Consumer) -> bool:
        """Wait for the topic, which the relay creates with its first row."""
        while not self._end.is_set():
            with suppress(KafkaException):
                found = consumer.list_topics(timeout=2).topics.get(self._topic)
                if found is not None and found.error is None:
                    consumer.assign(
                        [TopicPartition(self._topic, each, 0) for each in sorted(found.partitions)]
                    )
                    return True
            self._end.wait(_LOOK_FOR_TOPIC_S)
        return False

    def _read(self, consumer: Consumer) -> None:
        while not self._end.is_set() and not self._again.is_set():
            message = consumer.poll(_POLL_S)
            # The marker of a table that moves has no value (ADR 78).
            if message is not None and message.error() is None and message.value() is not None:
                self._see(message)

    def _see(self, message: Message) -> None:
        now = monotonic()
        with self._silence_lock:
            self._silence_s, self._heard_s = max(self._silence_s, now - self._heard_s), now
        value = orjson.loads(message.value() or b"{}")
        headers = dict(message.headers() or [])
        order = headers.get("order", b"")
        assert isinstance(order, bytes)
        row, partition = value["data"][0], message.partition() or 0
        self.partitions.add(partition)
        key, n = int(row["id"]), int(row["n"])
        self.tally.see(key, n, partition, order.decode())
        self._newest[key] = max(self._newest.get(key, ("", 0)), (order.decode(), n))

"""Checks the topics regularly while rows flow, so that partitions that an operator added appear in
the log.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from relay.errors import RelayError
from relay.kafka import TopicAdmin
from relay.pipeline.delivery.topics import Topics
from relay.settings import KafkaSettings
from relay.threads import Guard, RelayThread

_POLL_SECONDS: Final = 20.0
"""One metadata request each time, outside the publishing thread."""

_log = structlog.stdlib.get_logger(__name__)


@contextmanager
def watched(topics: Topics, kafka: KafkaSettings, instance: str) -> Iterator[None]:
    """Context manager: check the topics regularly in a thread while the block runs, and log
    changes.

    An outage of Kafka is only logged here; the publishing thread reports it.
    """
    end = threading.Event()
    RelayThread("topics", instance, _poll, topics, kafka, end, instance).start()
    try:
        yield
    finally:
        end.set()


def _poll(topics: Topics, kafka: KafkaSettings, end: threading.Event, instance: str) -> None:
    guard = Guard("topics", instance)
    while not end.wait(max(_POLL_SECONDS, guard.pause_s)):
        with guard:
            try:
                topics.warn_of_surplus(TopicAdmin(kafka).partition_counts())
            except RelayError as exc:
                _log.info("topics_not_read", instance=instance, reason=exc.reason)

"""Writes the Kafka client's log lines to the relay's log, each kind at most once per period."""

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Final

import structlog
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient

PAUSE_SECONDS: Final = 60.0
"""Seconds during which lines that differ only in numbers are written once.

The next line contains the number of suppressed ones.
"""
MOST_KINDS: Final = 256
"""Number of kinds of lines that are stored. Beyond it, all are dropped."""
_KIND_CHARACTERS: Final = 200
_NUMBER: Final = re.compile(r"\d+")
_COUNTS: Final = re.compile(r" \(after .*\)$")

_log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class _Kind:
    written_s: float
    suppressed: int = 0


class ClientLog:
    """Receives log lines through the methods of `logging.Logger` that the client calls.

    Several threads use it. The client delivers its lines when it is polled, or inside a call that
    polls.
    """

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        self._now_s = now_s
        self._kinds: dict[str, _Kind] = {}
        self._lock = threading.Lock()

    def log(self, _level: int, _form: str, facility: str, client: str, text: str) -> None:
        """Write a line, or only count it if a line of its kind was written in the same period.

        Every line is logged as a warning, whatever its level: if an instance is affected, its state
        shows that.
        """
        suppressed = self._suppressed(facility, text)
        if suppressed is None:
            return
        more = {"suppressed": suppressed} if suppressed else {}
        _log.warning("kafka_client", facility=facility, client=client, text=text, **more)

    def _suppressed(self, facility: str, text: str) -> int | None:
        """Return how many lines of this kind were suppressed since the last one.

        None if this line is suppressed too.
        """
        kind = f"{facility} {_NUMBER.sub('#', _COUNTS.sub('', text))[:_KIND_CHARACTERS]}"
        now_s = self._now_s()
        with self._lock:
            known = self._kinds.get(kind)
            if known is not None and now_s - known.written_s < PAUSE_SECONDS:
                known.suppressed += 1
                return None
            if known is None and len(self._kinds) >= MOST_KINDS:
                self._kinds.clear()
            self._kinds[kind] = _Kind(now_s)
            return 0 if known is None else known.suppressed


CLIENT_LOG: Final = ClientLog()
"""The log of all clients of the process."""


def write_log_lines(client: AdminClient | Producer | Consumer) -> None:
    """Write the lines that the client has queued.

    Fatal errors of the client are raised by the affected calls, not here.
    """
    with suppress(KafkaException):
        client.poll(0)

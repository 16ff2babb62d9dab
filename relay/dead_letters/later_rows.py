"""Checks whether the message of a dead letter may be sent now.

In a compacted topic it must not replace a newer change of its key, and it must have the format and
a partition of its topic.
"""

from collections.abc import Callable, Iterator
from functools import partial
from time import time
from typing import Final

from relay.dead_letters.dead_letter import DeadLetter
from relay.dead_letters.value_formats import formats_of
from relay.deadline import Deadline
from relay.envelope import order_of
from relay.errors import BrokerUnreachable, ReplayRefused
from relay.kafka import ScannedRecord, TopicState, scan_partition
from relay.settings import InstanceSettings, KafkaSettings

_SENT_SECONDS: Final = 60.0
_COPY_REMEDY: Final = (
    "Nothing was sent. Publish the row again as it is on the source now: `roma snapshot start "
    "--where`."
)


def check_form(letter: DeadLetter, instance: InstanceSettings, state: TopicState) -> None:
    """Raise ReplayRefused if the topic has another format, or does not have the partition of the
    message.
    """
    message = letter.message
    if message.partition >= state.partitions:
        raise ReplayRefused(
            f"Dead letter {letter.id} is for partition {message.partition} of {message.topic}, "
            f"which has {state.partitions} partitions now.",
            remedy=_COPY_REMEDY,
        )
    wanted, value = instance.format_of(message.topic), message.value or b""
    found = formats_of(value)
    if message.value is not None and found and wanted not in found:
        raise ReplayRefused(
            f"Dead letter {letter.id} has the format {' or '.join(found)}, and {message.topic} "
            f"has {wanted} now. Readers of the topic could not read the message.",
            remedy=_COPY_REMEDY,
        )


class LastOfKey:
    """Checks that a compacted topic has no newer change of a key before an older one is sent.

    Kafka keeps the last record of a key, so the older row would replace the newer one permanently.
    `scan` yields the records of the message's partition from an offset on, also those of open
    transactions.
    """

    def __init__(self, letter: DeadLetter, scan: Callable[[int], Iterator[ScannedRecord]]) -> None:
        self._letter = letter
        self._message = letter.message
        self._scan = scan
        self._next = 0

    def check(self, forgets_ms: int | None) -> None:
        """Read the partition. Raise ReplayRefused if it has a newer change of the key, or may have
        lost the record of a newer delete.

        `forgets_ms`: milliseconds after which a deleted key may have no record left; None: never.
        """
        is_known = False
        for record in self._scan(0):
            self._next = record.offset + 1
            is_known |= record.key == self._message.key
            self._refuse_newer(record)
        age_ms = int(time() * 1000) - self._letter.written_ms
        if not is_known and forgets_ms is not None and age_ms >= forgets_ms:
            raise ReplayRefused(
                f"Dead letter {self._letter.id} was written more than {forgets_ms} ms ago, and "
                f"{self._message.topic} keeps deletes only for that time. The topic has no "
                "record of its key, so the row may have been deleted on the source.",
                remedy=_COPY_REMEDY,
            )

    def check_sent(self) -> None:
        """Read the records that were added before the message, which was sent in an open
        transaction.

        Raises ReplayRefused if one of them is a newer change of the key, BrokerUnreachable if the
        message does not arrive.
        """
        deadline = Deadline.after(_SENT_SECONDS)
        while not deadline.passed:
            for record in self._scan(self._next):
                self._next = record.offset + 1
                if (record.key, record.value) == (self._message.key, self._message.value):
                    return
                self._refuse_newer(record)
        raise BrokerUnreachable(
            f"The message for {self._message.topic} could not be read back from Kafka "
            f"within {_SENT_SECONDS:.0f} s."
        )

    def _refuse_newer(self, record: ScannedRecord) -> None:
        if record.key != self._message.key:
            return
        own, found = order_of(self._message.headers), order_of(record.headers)
        if own is None or found is None or found > own:
            raise ReplayRefused(
                f"Dead letter {self._letter.id} is older than the record with the same key at "
                f"partition {record.partition}, offset {record.offset} of "
                f"{self._message.topic}. The topic is compacted, so the older row would "
                "replace the newer one.",
                remedy=_COPY_REMEDY,
            )


def last_of_key(kafka: KafkaSettings, letter: DeadLetter, state: TopicState) -> LastOfKey | None:
    """Return the check for a dead letter's key; None if its topic keeps all records."""
    message = letter.message
    if "compact" not in state.settings.get("cleanup.policy", "") or message.key is None:
        return None
    return LastOfKey(letter, partial(scan_partition, kafka, message.topic, message.partition))


def forgets_after_ms(state: TopicState, *, tombstones: bool) -> int | None:
    """Return for how many milliseconds a compacted topic keeps the tombstone of a deleted key.

    `tombstones`: whether the instance writes tombstones. Without them the result is None, because
    the topic then keeps a record of every key.
    """
    return int(state.settings.get("delete.retention.ms", 0)) if tombstones else None

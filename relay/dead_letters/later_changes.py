"""Finds newer changes of a dead letter's key in its topic."""

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from relay.dead_letters.dead_letter import DeadLetter
from relay.deadline import Deadline
from relay.envelope import Order, order_of
from relay.kafka import PartitionRange, TailRecord, TopicTail
from relay.settings import KafkaSettings

READ_SECONDS: Final = 3.0
"""Largest time in seconds for reading the partition, because a user waits for the answer."""
_CLOCKS_MS: Final = 600_000
"""Largest difference in milliseconds between the clocks of two relays that is taken into account.
"""
_BATCH: Final = 1_000
_POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """The newer changes of a key in its topic.

    count      number of changes; copies of a change for further tags count once
    newest_ms  time at which Kafka received the last one (Unix milliseconds); None: there is none
    is_whole   whether all records since the dead letter existed and were read
    """

    count: int
    newest_ms: int | None
    is_whole: bool

    def sentence(self, topic: str) -> str:
        """Return one or two sentences about the changes and their effect on sending the dead letter
        again.
        """
        if not self.count:
            found = f"{topic} has no newer change of its key"
            return f"{found}." if self.is_whole else f"{found} in the part that was read. {_PART}"
        many = f"{self.count:,} newer {'change' if self.count == 1 else 'changes'} of its key"
        least = "" if self.is_whole else "at least "
        return (
            f"{topic} has {least}{many}: consumers that keep the greater order key discard "
            f"this message.{'' if self.is_whole else f' {_PART}'}"
        )


_PART: Final = "Older records were removed, or there are too many to read here."


def later_changes(kafka: KafkaSettings, letter: DeadLetter) -> LaterChanges | None:
    """Count the committed changes that have the dead letter's key and a greater order key.

    It reads the partition to which the dead letter's message belongs, for at most READ_SECONDS. It
    begins with the records from ten minutes before the dead letter was written. Returns None if the
    dead letter has no message or no key, or if the partition does not exist. Raises
    BrokerUnreachable, KafkaNotPermitted, TopicRefused.
    """
    message = letter.message
    if not letter.is_message or message.key is None:
        return None
    with closing(TopicTail(kafka, message.topic)) as tail:
        ranges = tail.ranges()
        if message.partition not in ranges:
            return None
        return _counted(tail, letter, ranges[message.partition])


def _counted(tail: TopicTail, letter: DeadLetter, present: PartitionRange) -> LaterChanges:
    partition = letter.message.partition
    since_ms = max(0, letter.written_ms - _CLOCKS_MS)
    first = tail.offsets_at(since_ms, {partition: present})[partition]
    found: dict[Order | int, int] = {}
    is_read = first >= present.end
    tail.start({partition: first})
    deadline = Deadline.after(READ_SECONDS)
    while not is_read and not deadline.passed:
        read = tail.read(_BATCH, _POLL_SECONDS)
        found |= {
            mark: record.at_ms
            for record in read.records
            if (mark := _newer(letter, record)) is not None
        }
        is_read = partition in read.ended or tail.positions()[partition] >= present.end
    kept_all = not present.first or first > present.first
    return LaterChanges(len(found), max(found.values(), default=None), is_read and kept_all)


def _newer(letter: DeadLetter, record: TailRecord) -> Order | int | None:
    """Return what identifies a newer change of the letter's key; None for other records.

    A record without an order key is newer if Kafka got it later; its offset identifies it.
    """
    if record.key != letter.message.key:
        return None
    order = order_of(record.headers)
    if order is None:
        return record.offset if record.at_ms > letter.written_ms else None
    return order if order > (letter.execute_time, letter.execute_position) else None

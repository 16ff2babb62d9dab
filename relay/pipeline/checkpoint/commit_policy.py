"""Decides when a Kafka transaction ends, from the state of the open batch. Does no I/O."""

from enum import Enum
from typing import Final, NamedTuple

from relay.settings import TransactionSettings

POSITION_SECONDS: Final = 10.0
"""A position that moved without rows (filtered traffic, rotation) is committed at least this
often.
"""

POSITION_HEARTBEAT_SECONDS: Final = 3600.0
"""A position that did not move is written again at this interval, so that retention by age never
deletes the last position record.
"""


class BatchEnd(Enum):
    """What to commit now.

    The choices are: nothing yet, whole source transactions, a part of a source transaction, or the
    position alone.
    """

    NOT_YET = "not yet"
    WHOLE = "whole source transactions"
    PART = "a part of a giant one"
    POSITION = "the position alone"


class BatchView(NamedTuple):
    """The facts about the open batch that decide whether to commit it.

    messages              its number of messages
    size_bytes            the size of its events in the binlog
    open_seconds          for how long it has been open
    whole                 True: no source transaction is open
    idle                  True: the buffer is empty
    moved                 True: the position differs from the committed one
    seconds_since_commit  the time since the last commit
    """

    messages: int
    size_bytes: int
    open_seconds: float
    whole: bool
    idle: bool
    moved: bool
    seconds_since_commit: float


def batch_end(batch: BatchView, settings: TransactionSettings) -> BatchEnd:
    """Return what to commit now, according to the settings of transactions.

    A batch of whole source transactions is committed at once if the buffer is empty, otherwise
    after `busy_commit_ms` or `busy_commit_bytes`. A batch inside a source transaction is committed
    as a part after `split_bytes` or a third of the transaction timeout. Without messages, the
    position alone is committed: POSITION_SECONDS after the last commit if it has moved, otherwise
    POSITION_HEARTBEAT_SECONDS after it.
    """
    if batch.messages and batch.whole:
        old = batch.open_seconds * 1000 >= settings.busy_commit_ms
        return (
            BatchEnd.WHOLE
            if batch.idle or old or batch.size_bytes >= settings.busy_commit_bytes
            else BatchEnd.NOT_YET
        )
    if batch.messages:
        too_long = batch.open_seconds * 1000 >= settings.timeout_ms / 3
        return (
            BatchEnd.PART
            if too_long or batch.size_bytes >= settings.split_bytes
            else BatchEnd.NOT_YET
        )
    if batch.whole:
        limit = POSITION_SECONDS if batch.moved else POSITION_HEARTBEAT_SECONDS
        return BatchEnd.POSITION if batch.seconds_since_commit >= limit else BatchEnd.NOT_YET
    return BatchEnd.NOT_YET

"""Decides when a Kafka transaction ends, from the state of the open batch. Pure."""

from enum import Enum
from typing import Final, NamedTuple

from relay.settings import TransactionSettings

POSITION_SECONDS: Final = 10.0
"""A position that moved without rows (filtered traffic, rotation) is committed at least this
often.
"""

POSITION_HEARTBEAT_SECONDS: Final = 3600.0
"""A position that did not move is written again this often, so that retention by age never takes
the last one.
"""


class BatchEnd(Enum):
    """The reason to commit the batch now, or not yet."""

    NOT_YET = "not yet"
    WHOLE = "whole source transactions"
    PART = "a part of a giant one"
    POSITION = "the position alone"


class BatchView(NamedTuple):
    """The open batch as the rules see it.

    `idle`: the buffer is empty. `whole`: no source transaction is open.
    """

    messages: int
    size_bytes: int
    open_seconds: float
    whole: bool
    idle: bool
    moved: bool
    seconds_since_commit: float


def batch_end(batch: BatchView, settings: TransactionSettings) -> BatchEnd:
    """Return what to commit now: an idle stream commits at once, a busy one in large steps, a giant
    source transaction in parts.
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

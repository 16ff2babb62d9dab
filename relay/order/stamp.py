"""Computes the order key of every change. Its position always rises, is unique and has at most 63
bits, even if files, servers or clocks change.

The binlog's own time and offset do not order changes. The time in an event's header is the second
in which the statement *started*. Offsets begin again with every file. A client of the source can
date a change to any time. See docs/delivery.md, "Order".
"""

from dataclasses import dataclass
from typing import Final

from relay.model.positions.position import BinlogPosition, OrderPair, file_number

EPOCH_BITS: Final = 11
FILE_BITS: Final = 20
OFFSET_BITS: Final = 32

MAX_EPOCH: Final = (1 << EPOCH_BITS) - 1
_MAX_FILE: Final = (1 << FILE_BITS) - 1
_MAX_OFFSET: Final = (1 << OFFSET_BITS) - 1


@dataclass(frozen=True, slots=True)
class PositionParts:
    """The parts of an execute position.

    Each change raises the position by at least one, so `offset` is at or after the offset of the
    source transaction. If it exceeds 32 bits, all three parts are inexact.
    """

    epoch: int
    file_number: int
    offset: int


def compose(epoch: int, position: BinlogPosition) -> int:
    """Return an execute position: epoch (11 bits), file number (20 bits) and offset (32 bits) of
    `position`, each capped at its width.
    """
    number = min(file_number(position.file), _MAX_FILE)
    offset = min(position.offset, _MAX_OFFSET)
    return min(epoch, MAX_EPOCH) << (FILE_BITS + OFFSET_BITS) | number << OFFSET_BITS | offset


def decompose(execute_position: int) -> PositionParts:
    """Return the parts of an execute position, for display."""
    return PositionParts(
        epoch=execute_position >> (FILE_BITS + OFFSET_BITS),
        file_number=execute_position >> OFFSET_BITS & _MAX_FILE,
        offset=execute_position & _MAX_OFFSET,
    )


def begin_transaction(
    previous: OrderPair, epoch: int, position: BinlogPosition, change_time_ms: int, latest_ms: int
) -> OrderPair:
    """Return the order key before the first change of a source transaction. The first change gets
    the position after it.

    previous        the last order key of the instance
    change_time_ms  commit time, else the time in the header; Unix milliseconds
    latest_ms       the relay's clock plus the accepted skew; Unix milliseconds

    A client of the source can date a change to 2038, so the time is capped at `latest_ms`.
    """
    return OrderPair(
        execute_time=max(previous.execute_time, min(change_time_ms, latest_ms)),
        execute_position=max(previous.execute_position, compose(epoch, position) - 1),
    )

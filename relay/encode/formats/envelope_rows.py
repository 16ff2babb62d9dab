"""Base classes of the formats that write a row as an envelope with the images before and after."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from relay.compiled import Envelope
from relay.encode.frame import MessageFrame
from relay.encode.row_encoder import operation_of
from relay.envelope import order_text
from relay.model.change import Operation, RowChange
from relay.model.positions.position import OrderPair
from relay.model.table import TableId
from relay.model.value import Row

OPERATIONS: Final = {Operation.INSERT: "c", Operation.UPDATE: "u", Operation.DELETE: "d"}
"""Debezium's letter of each operation."""
SNAPSHOT_OPERATION: Final = "r"
"""The letter of a row that was read by SELECT."""
_ROWLESS: Final = {"before": None, "after": None, "ddl": ""}
_NO_ENVELOPE: Final = Envelope((), b"", b"")


class EnvelopeRows(ABC):
    """Encodes the rows of one table under one name. A value consists of head, row images, middle,
    order key and end.

    `undecodable_values` counts values that were printed with U+FFFD.
    """

    prints_images: ClassVar[bool] = False
    is_compiled: ClassVar[bool] = True
    compiles_copies: ClassVar[bool] = True

    def __init__(self) -> None:
        self.undecodable_values = 0

    @property
    @abstractmethod
    def envelope(self) -> Envelope:
        """Return the texts that compiled code prints around row images."""

    @abstractmethod
    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Return the two texts that frame the row images: the text before them, and the text
        between them and the order key.
        """

    @abstractmethod
    def image(self, row: Row) -> bytes:
        """Return the bytes of a row image inside a message."""

    def event(self, rows: Sequence[RowChange]) -> "EnvelopeEvent":
        """Return an object that encodes the given rows of one event."""
        return EnvelopeEvent(self, rows)

    def encode(self, changes: Sequence[RowChange], frame: MessageFrame, order: OrderPair) -> bytes:
        """Return the value of a message with one change."""
        (change,) = changes
        head, middle = self.framing_texts(operation_of(change), frame)
        images = [self.image(row) for row in change if row is not None]
        envelope = self.envelope
        return b"".join(
            (head, envelope.between.join(images), middle, order_bytes(order), envelope.end)
        )

    def framing_text_parts(self, operation: Operation) -> tuple[bytes, bytes, bytes, bytes]:
        """Raise NotImplementedError, because compiled code prints whole transactions only in
        Canal's format.
        """
        raise NotImplementedError(operation)

    def count_undecodable(self) -> None:
        """Count a value that is printed with U+FFFD."""
        self.undecodable_values += 1

    def take_undecodable(self) -> int:
        """Return how many values were printed with U+FFFD since the last call."""
        count, self.undecodable_values = self.undecodable_values, 0
        return count


class ReadableRows(EnvelopeRows):
    """Encodes rows in a format that compiled code does not print."""

    is_compiled: ClassVar[bool] = False

    @property
    def envelope(self) -> Envelope:
        """Return an empty envelope, because compiled code does not print this format."""
        return _NO_ENVELOPE

    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Raise NotImplementedError, because compiled code does not print this format."""
        raise NotImplementedError(operation, frame)


class EnvelopeEvent:
    """Encodes the rows of one row event. Each row is identified by its index in the event."""

    __slots__ = ("_encoder", "_rows")

    def __init__(self, encoder: EnvelopeRows, rows: Sequence[RowChange]) -> None:
        self._encoder = encoder
        self._rows = rows

    def encode(self, numbers: Sequence[int], frame: MessageFrame, order: OrderPair) -> bytes:
        """Return the value of a message with one row; `numbers` contains only its index in the
        event.
        """
        return self._encoder.encode([self._rows[number] for number in numbers], frame, order)


def letter_of(operation: Operation, frame: MessageFrame) -> str:
    """Return the value of Debezium's field `op` for a change: c, u, d, or r for a copied row."""
    read = frame.snapshot and operation is Operation.INSERT
    return SNAPSHOT_OPERATION if read else OPERATIONS[operation]


def source_fields(instance: str, name: TableId, frame: MessageFrame) -> dict[str, object]:
    """Return the fields of Debezium's `source` that all formats share: all but the order key."""
    return {
        "name": instance,
        "ts_ms": frame.event_time_ms,
        "snapshot": "true" if frame.snapshot else "false",
        "db": name.database,
        "table": name.table or None,
        "server_id": frame.coordinates.server_id,
        "gtid": frame.gtid or None,
        "file": frame.coordinates.file,
        "pos": frame.coordinates.offset,
    }


def without_rows(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an envelope or a statement without its rows, for a message with a claim
    check.
    """
    return {name: _ROWLESS.get(name, part) for name, part in fields.items()}


def order_bytes(order: OrderPair) -> bytes:
    """Return the text of an order key as bytes."""
    return order_text(order.execute_time, order.execute_position).encode("ascii")

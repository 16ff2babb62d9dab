"""CloudEvents 1.0 in the structured mode of its Kafka binding: one JSON event for each change.

Rules: CloudEvents specification 1.0.2, its JSON event format and its Kafka protocol binding.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import ClassVar, Final
from urllib.parse import quote

import orjson

from relay.encode.formats.envelope_rows import (
    OPERATIONS,
    SNAPSHOT_OPERATION,
    letter_of,
    order_bytes,
    without_rows,
)
from relay.encode.formats.json_rows import JsonRows, source_json, statement_fields
from relay.encode.formats.message_format import StatementFacts
from relay.encode.frame import MessageFrame
from relay.model.change import Operation, RowChange
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId

_MEDIA_TYPE: Final = b"application/cloudevents+json; charset=UTF-8"
_TYPES: Final = {
    OPERATIONS[Operation.INSERT]: "com.pajk.roma.row.insert",
    OPERATIONS[Operation.UPDATE]: "com.pajk.roma.row.update",
    OPERATIONS[Operation.DELETE]: "com.pajk.roma.row.delete",
    SNAPSHOT_OPERATION: "com.pajk.roma.row.read",
}
_STATEMENT: Final = "com.pajk.roma.statement"
_END: Final = b'"}'
_ID_DIGITS: Final = 16
"""Number of hexadecimal digits that identify a copied row in the id of its event."""


class CloudEvents:
    """Encodes row changes as CloudEvents; their `source` is the instance."""

    name: ClassVar[str] = "cloudevents"
    headers: ClassVar[Headers] = (("content-type", _MEDIA_TYPE),)

    def __init__(self, instance: str) -> None:
        self._instance = instance

    def rows(
        self, definition: TableDefinition, name: TableId, _topics: Sequence[str]
    ) -> "CloudEventRows":
        """Return the encoder of a table's rows."""
        return CloudEventRows(definition, name, self._instance)

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, order: OrderPair, _topic: str
    ) -> bytes:
        """Return a statement as an event, with the fields of Debezium's schema change event.

        A statement may report a dead letter. The report has the order key of the row in the dead
        letter, and that row may be sent later with the same order key. So the id of the report also
        contains the id of the dead letter, and the two events have different ids.
        """
        source = source_json(self._instance, statement.name, frame)
        data = orjson.dumps(statement_fields(statement, frame, source))
        head = _attributes(self._instance, _STATEMENT, statement.name, frame)
        of_letter = f"-{statement.dead_letter}".encode() if statement.dead_letter else b""
        return head + data + b',"id":"' + order_bytes(order) + of_letter + _END

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message with a claim check: the event in `value` with its
        attributes, without its rows and the text of a statement.
        """
        event = orjson.loads(value)
        return orjson.dumps({**event, "data": without_rows(event["data"])})


class CloudEventRows(JsonRows):
    """Encodes the rows of one table under one name."""

    compiles_copies: ClassVar[bool] = False

    def __init__(self, definition: TableDefinition, name: TableId, instance: str) -> None:
        super().__init__(definition, name, instance, _END)

    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Return the text before the row images, and the text between them and the order key."""
        kind = _TYPES[letter_of(operation, frame)]
        head, middle = super().framing_texts(operation, frame)
        return _attributes(self._instance, kind, self._name, frame) + head, middle

    def before_order(self, frame: MessageFrame) -> bytes:
        """Return the text between `ts_ms` and the order key. The order key is the event's `id`."""
        source = source_json(self._instance, self._name, frame)
        return b',"source":' + source + b'},"id":"'

    def encode(self, changes: Sequence[RowChange], frame: MessageFrame, order: OrderPair) -> bytes:
        """Return the event of one change.

        The order key is the id of an event. Copied rows of several tables share an order key (ADR
        61). So the id of a copied row also contains a digest of its table and of the real row. The
        digests differ even if rows of two shards are equal.
        """
        value = super().encode(changes, frame, order)
        if not frame.snapshot:
            return value
        (change,) = changes
        row = sha256(f"{self._name}\n".encode() + frame.copied_row)
        row.update(self.image(change.after or change.before or ()))
        return value[: -len(_END)] + b"-" + row.hexdigest()[:_ID_DIGITS].encode() + _END


def _attributes(instance: str, kind: str, name: TableId, frame: MessageFrame) -> bytes:
    """Return the JSON of the event's attributes, which precede `data`."""
    moment = datetime.fromtimestamp(frame.event_time_ms / 1000, UTC)
    subject = str(name) if name.table else name.database
    attributes = {
        "specversion": "1.0",
        "type": kind,
        "source": f"/roma/{quote(instance, safe='')}",
        **({"subject": subject} if subject else {}),
        "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "datacontenttype": "application/json",
    }
    return orjson.dumps(attributes)[:-1] + b',"data":'

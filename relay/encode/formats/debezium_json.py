"""Debezium's JSON: an envelope with the row before and after, and the source of the change.

Rule: https://debezium.io/documentation/reference/stable/connectors/mysql.html (data change events,
schema change topic), and docs/formats/debezium-json.md for what differs. This module prints
statements; rows are printed by `json_rows` and, compiled, by
`relay/compiled/envelopes`.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

import orjson

from relay.encode.formats.connect_schema import envelope_schema, statement_schema
from relay.encode.formats.envelope_rows import without_rows
from relay.encode.formats.json_rows import (
    JsonRows,
    NumberedRows,
    ordered_source,
    statement_fields,
)
from relay.encode.formats.message_format import NO_HEADERS, StatementFacts
from relay.encode.frame import MessageFrame
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId

END: Final = b'"}}'
"""The text after the order key in a message without a schema."""


class DebeziumJson:
    """Debezium's JSON, with or without Kafka Connect's schema in each message.

    instance      name of the instance: the value of `source.name`, and first part of schema names
    with_schema   whether each message contains the schema
    numbers_rows  whether messages contain the source transaction and the row's number in it
    """

    name: ClassVar[str] = "debezium-json"
    headers: ClassVar[Headers] = NO_HEADERS

    def __init__(self, instance: str, *, with_schema: bool, numbers_rows: bool = False) -> None:
        self._instance = instance
        self._kind = NumberedRows if numbers_rows else JsonRows
        self._with_schema = with_schema

    def rows(self, definition: TableDefinition, name: TableId, _topics: Sequence[str]) -> JsonRows:
        """Return the encoder of a table's rows."""
        rows = self._kind(definition, name, self._instance, END + b"}" * self._with_schema)
        if self._with_schema:
            schema = envelope_schema(self._instance, name, rows.columns)
            rows.wrap(b'{"schema":' + schema + b',"payload":{')
        return rows

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, order: OrderPair, _topic: str
    ) -> bytes:
        """Return a statement as Debezium's schema change event. Its fields `type` and `isDdl` are
        the relay's own.
        """
        source = ordered_source(self._instance, statement.name, frame, order)
        payload = orjson.dumps(statement_fields(statement, frame, source))
        if not self._with_schema:
            return payload
        return b'{"schema":' + statement_schema(self._instance) + b',"payload":' + payload + b"}"

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message with a claim check: the envelope in `value` without its
        rows. Readers that do not support claim checks fail on it.
        """
        whole = orjson.loads(value)
        return orjson.dumps(without_rows(whole["payload"] if self._with_schema else whole))

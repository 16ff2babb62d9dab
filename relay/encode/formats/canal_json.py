"""Canal's flat JSON, the default format (docs/canal-json.md)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import orjson

from relay.encode.formats.message_format import NO_HEADERS, RowsEncoder, StatementFacts
from relay.encode.frame import MessageFrame
from relay.encode.row_encoder import RowEncoder
from relay.encode.statement_encoder import encode_statement
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId


class CanalJson:
    """Canal's flat JSON in one of its two styles of values."""

    name: ClassVar[str] = "canal-json"
    headers: ClassVar[Headers] = NO_HEADERS

    def __init__(self, style: Literal["exact", "canal"]) -> None:
        self._style = style

    def rows(
        self, definition: TableDefinition, name: TableId, _topics: Sequence[str]
    ) -> RowsEncoder:
        """Return the encoder of a table's rows."""
        return RowEncoder(definition, name, self._style)

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, _order: OrderPair, _topic: str
    ) -> bytes:
        """Return the value of a message with a statement."""
        return encode_statement(
            statement.kind, statement.name, statement.sql, frame, is_ddl=statement.is_ddl
        )

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message with a claim check: all fields of `value` except the rows
        and the fields whose size depends on the rows.

        A reader of canal-json that does not support claim checks finds a row change without rows,
        and fails. So it cannot mistake missing values for nulls.
        """
        fields = orjson.loads(value)
        return orjson.dumps(
            {**fields, "data": None, "mysqlType": None, "old": None, "sql": "", "sqlType": None}
        )

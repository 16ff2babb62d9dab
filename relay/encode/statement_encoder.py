"""Encodes statements as values in Canal's flat JSON: DDL, and changes that the server logged as SQL
text.
"""

import orjson

from relay.encode.frame import MessageFrame
from relay.envelope import MessageType
from relay.model.table import TableId


def encode_statement(
    kind: MessageType, name: TableId, sql: str, frame: MessageFrame, *, is_ddl: bool
) -> bytes:
    """Return the value of a message with a statement.

    `name` is its logical table; the table's name, or both names, may be "".
    """
    return b"".join(
        (
            b'{"data":null,"database":',
            orjson.dumps(name.database),
            b",",
            frame.middle,
            b',"isDdl":',
            orjson.dumps(is_ddl),
            b',"mysqlType":null,"old":null,"pkNames":null,"sql":',
            orjson.dumps(sql),
            b',"sqlType":null,"table":',
            orjson.dumps(name.table),
            b',"ts":',
            frame.publish_time,
            b',"type":"',
            kind.value.encode("ascii"),
            b'"}',
        )
    )

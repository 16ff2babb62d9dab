"""Canal's own messages, asked for again: the same bytes must come out."""

from collections import Counter

import pytest

from relay.encode import MessageFrame, RowEncoder, encode_statement
from relay.envelope import MessageType
from relay.model.table import TableId
from tests.unit.encode.canal_tables import (
    SERVERS,
    CanalMessage,
    Truth,
    canal_messages,
    changes_of,
    definition_of,
)


def frame_of(message: CanalMessage) -> MessageFrame:
    body = message.body
    return MessageFrame(
        event_time_ms=body["es"], gtid=body["gtid"], batch=body["id"], publish_time_ms=body["ts"]
    )


@pytest.mark.parametrize("server", SERVERS)
def test_row_messages_are_canals_byte_for_byte(server: str) -> None:
    truth = Truth(server)
    columns: dict[TableId, dict[str, str]] = {}
    seen: Counter[str] = Counter()
    for message in canal_messages(server):
        body = message.body
        if body["data"] is None:
            continue
        name = TableId(body["database"], body["table"])
        known = columns.setdefault(name, body["mysqlType"])
        if len(body["mysqlType"]) >= len(known):
            columns[name] = known = body["mysqlType"]
        definition = definition_of(message, known)
        changes = changes_of(message, definition, truth)
        value = RowEncoder(definition, name, "canal").encode(changes, frame_of(message))
        assert value == message.raw, f"statement {message.statement}"
        seen[body["type"]] += 1
    assert seen["INSERT"] > 100
    assert seen["UPDATE"] > 40
    assert seen["DELETE"] > 15


@pytest.mark.parametrize("server", SERVERS)
def test_statement_messages_are_canals_byte_for_byte(server: str) -> None:
    seen = 0
    for message in canal_messages(server):
        body = message.body
        if body["data"] is not None:
            continue
        name = TableId(body["database"], body["table"])
        value = encode_statement(
            MessageType(body["type"]), name, body["sql"], frame_of(message), is_ddl=body["isDdl"]
        )
        assert value == message.raw
        seen += 1
    assert seen > 30

"""A value's first bytes tell its format, also for statements and for references to claims."""

import pytest

from relay.dead_letters.value_formats import formats_of
from relay.encode import (
    CanalJson,
    CloudEvents,
    DebeziumJson,
    MaxwellJson,
    MessageFormat,
    MessageFrame,
    StatementFacts,
)
from relay.encode.formats.avro import Avro
from relay.encode.formats.registered.json_schema import JsonSchema
from relay.encode.formats.registered.protobuf import Protobuf
from relay.encode.formats.registered.subjects import SchemaKind
from relay.envelope import MessageType
from relay.model.change import RowChange
from relay.model.positions.position import OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap

NAME = TableId("shop", "t")
TABLE = TableDefinition(
    TableMap(NAME, (Column("id", ColumnType.LONG, nullable=False),), (0,)), (0,), ("int",)
)
FRAME = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5)
DDL = StatementFacts(MessageType.ALTER, NAME, "alter table t add c int", is_ddl=True)


class Ids:
    """A registry that gives each subject an id."""

    def __init__(self) -> None:
        self._subjects: list[str] = []

    def id_of(self, subject: str, _schema: str, _kind: SchemaKind) -> int:
        if subject not in self._subjects:
            self._subjects.append(subject)
        return self._subjects.index(subject)


@pytest.mark.parametrize(
    "form",
    [
        CanalJson("exact"),
        DebeziumJson("x", with_schema=False),
        DebeziumJson("x", with_schema=True),
        MaxwellJson(),
        CloudEvents("x"),
        Avro("x", Ids(), "topic_record_name", "strict"),
        JsonSchema("x", Ids(), "topic_record_name"),
        Protobuf("x", Ids(), "topic_record_name", "strict"),
    ],
    ids=lambda form: form.name,
)
def test_each_format_recognizes_its_own_values(form: MessageFormat) -> None:
    order = OrderPair(1, 2)
    row = form.rows(TABLE, NAME, ("t",)).encode((RowChange(None, (7,)),), FRAME, order)
    statement = form.statement(DDL, FRAME, order, "t.ddl")
    for value in (row, statement, form.reference(row), form.reference(statement)):
        assert form.name in formats_of(value), value

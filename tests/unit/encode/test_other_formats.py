"""Maxwell's JSON, CloudEvents, JSON with a schema, and Protobuf: their values of rows, claims and
statements.
"""

import re
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.encode import (
    CloudEvents,
    EventCoordinates,
    MaxwellJson,
    MessageFormat,
    MessageFrame,
    StatementFacts,
)
from relay.encode.formats.registered import protobuf_schema
from relay.encode.formats.registered.json_schema import JsonSchema
from relay.encode.formats.registered.protobuf import Protobuf, message_class
from relay.encode.formats.registered.protobuf_schema import Field, field_number, row_fields
from relay.encode.formats.registered.subjects import HEAD, SchemaKind
from relay.encode.formats.wire_types import TypedColumn, WireType
from relay.envelope import MessageType, order_text
from relay.errors import NameNotInFormat, RowImageIncomplete
from relay.model.change import RowChange
from relay.model.positions.position import OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import ABSENT, JsonDocument

NAME = TableId("shop", "t")
TABLE = TableDefinition(
    TableMap(
        NAME,
        (
            Column("id", ColumnType.LONGLONG, True, unsigned=True),
            Column("price", ColumnType.NEWDECIMAL, True, length=9, scale=2),
            Column("colours", ColumnType.SET, True, labels=("red", "green")),
            Column("extra", ColumnType.JSON, True),
            Column("raw", ColumnType.BLOB, True),
        ),
        (0,),
    ),
    (0,),
    ("bigint(20) unsigned", "decimal(9,2)", "set('red','green')", "json", "blob"),
)
BEFORE = (2**64 - 1, "9.90", 3, None, b"\0\xff")
AFTER = (2**64 - 1, "9.95", 0, JsonDocument({"a": [1, None]}), b"\0\xff")
ORDER = OrderPair(1, 2)
COORDINATES = EventCoordinates(7, "binlog.000002", 99)
UPDATE, INSERT = RowChange(BEFORE, AFTER), RowChange(None, AFTER)
DELETE = RowChange(BEFORE, None)
DDL = StatementFacts(MessageType.ALTER, NAME, "alter table t add c int", is_ddl=True)


def frame(*, snapshot: bool = False) -> MessageFrame:
    return MessageFrame(
        event_time_ms=1_767_225_609_000,
        gtid="0-1-42",
        batch=1,
        publish_time_ms=1_767_225_609_131,
        coordinates=COORDINATES,
        snapshot=snapshot,
    )


class Ids:
    """A registry that keeps the schemas of all subjects under one id each."""

    def __init__(self) -> None:
        self.schemas: list[tuple[str, str, SchemaKind]] = []

    def id_of(self, subject: str, schema: str, kind: SchemaKind) -> int:
        if (subject, schema, kind) not in self.schemas:
            self.schemas.append((subject, schema, kind))
        return self.schemas.index((subject, schema, kind))


def value(form: MessageFormat, change: RowChange, *, snapshot: bool = False) -> bytes:
    rows = form.rows(TABLE, NAME, ("topic",))
    return rows.encode((change,), frame(snapshot=snapshot), ORDER)


def test_maxwell_has_its_own_fields_alone() -> None:
    found = orjson.loads(value(MaxwellJson(), UPDATE))
    assert found == {
        "database": "shop",
        "table": "t",
        "type": "update",
        "ts": 1_767_225_609,
        "position": "binlog.000002:99",
        "gtid": "0-1-42",
        "server_id": 7,
        "primary_key_columns": ["id"],
        "data": {
            "id": 2**64 - 1,
            "price": 9.95,
            "colours": [],
            "extra": {"a": [1, None]},
            "raw": "AP8=",
        },
        "old": {"price": 9.9, "colours": ["red", "green"], "extra": None},
    }
    assert b'"price":9.90,' in value(MaxwellJson(), DELETE)  # the scale stays
    assert orjson.loads(value(MaxwellJson(), INSERT, snapshot=True))["type"] == "insert"
    assert "old" not in orjson.loads(value(MaxwellJson(), DELETE))


def test_maxwell_leaves_out_columns_that_a_row_lacks() -> None:
    found = orjson.loads(value(MaxwellJson(), RowChange(None, (1, ABSENT, ABSENT, None, ABSENT))))
    assert found["data"] == {"id": 1, "extra": None}


@pytest.mark.parametrize(
    ("kind", "table", "named"),
    [
        (MessageType.ALTER, "t", "table-alter"),
        (MessageType.RENAME, "t", "table-alter"),
        (MessageType.ERASE, "", "database-drop"),
        (MessageType.TRUNCATE, "t", "table-truncate"),
        (MessageType.QUERY, "t", "query"),
    ],
)
def test_maxwell_names_statements(kind: MessageType, table: str, named: str) -> None:
    statement = StatementFacts(kind, TableId("shop", table), "…", is_ddl=True)
    found = orjson.loads(MaxwellJson().statement(statement, frame(), ORDER, "topic"))
    assert (found["type"], found["sql"], found["ts"]) == (named, "…", 1_767_225_609_000)
    assert found.get("table", "") == table


def test_an_event_has_the_attributes_of_cloudevents() -> None:
    form = CloudEvents("a b")
    event = orjson.loads(value(form, UPDATE))
    assert event.pop("data")["before"]["price"] == "9.90"
    assert event == {
        "specversion": "1.0",
        "type": "com.pajk.roma.row.update",
        "source": "/roma/a%20b",
        "subject": "shop.t",
        "time": "2026-01-01T00:00:09.000Z",
        "datacontenttype": "application/json",
        "id": order_text(1, 2),
    }
    assert dict(form.headers)["content-type"].startswith(b"application/cloudevents+json")
    statement = orjson.loads(form.statement(DDL, frame(), ORDER, "topic"))
    assert statement["type"] == "com.pajk.roma.statement"
    assert statement["data"]["ddl"] == DDL.sql


def test_the_report_of_a_dead_letter_has_another_id_than_its_row() -> None:
    """The row may be sent later, and readers drop an event whose id they have seen."""
    form = CloudEvents("x")
    report = StatementFacts(MessageType.QUERY, NAME, "/* … */", is_ddl=False, dead_letter="2-1")
    ids = [
        orjson.loads(form.statement(each, frame(), ORDER, "topic"))["id"]
        for each in (DDL, report, report._replace(dead_letter="2-2"))
    ]
    assert ids[0] == orjson.loads(value(form, INSERT))["id"]
    assert ids[1:] == [f"{ids[0]}-2-1", f"{ids[0]}-2-2"]


def test_events_of_rows_under_one_order_key_have_different_ids() -> None:
    other = RowChange(None, (5, *AFTER[1:]))
    form = CloudEvents("x")
    ids = {orjson.loads(value(form, each, snapshot=True))["id"] for each in (INSERT, other)}
    assert len(ids) == 2
    assert all(each.startswith(order_text(1, 2) + "-") for each in ids)
    assert orjson.loads(value(form, INSERT, snapshot=True))["type"] == "com.pajk.roma.row.read"
    rows = form.rows(TABLE, TableId(NAME.database, "other"), ("topic",))
    beside = orjson.loads(rows.encode((INSERT,), frame(snapshot=True), ORDER))["id"]
    assert beside not in ids, "equal rows of two tables, copied at one boundary"


def test_equal_rows_of_two_shards_that_are_copied_have_different_ids() -> None:
    rows, ids = CloudEvents("x").rows(TABLE, NAME, ("topic",)), set()
    for real in (b"shop_1.t [5]", b"shop_2.t [5]"):
        of_row = frame(snapshot=True)
        of_row.copied_row = real
        ids.add(orjson.loads(rows.encode((INSERT,), of_row, ORDER))["id"])
    assert len(ids) == 2


def test_json_fits_its_schema_and_a_column_more_does_not() -> None:
    ids = Ids()
    form = JsonSchema("x", ids, "topic_record_name")
    for change in (INSERT, UPDATE, DELETE):
        whole = value(form, change)
        assert HEAD.unpack_from(whole) == (0, 0)
        for message in (whole, form.reference(whole)):
            _validate(ids, 0, message)
    _validate(ids, 1, form.statement(DDL, frame(), ORDER, "topic"))
    assert [(subject, kind) for subject, _, kind in ids.schemas] == [
        ("topic-shop.t.Envelope", "JSON"),
        ("topic-roma.Statement", "JSON"),
    ]
    wider = whole.replace(b'"price"', b'"other"')
    with pytest.raises(jsonschema.ValidationError):
        _validate(ids, 0, wider)


def _validate(ids: Ids, number: int, message: bytes) -> None:
    jsonschema.Draft7Validator(orjson.loads(ids.schemas[number][1])).validate(
        orjson.loads(message[HEAD.size :])
    )


def test_protobuf_tells_null_from_nothing() -> None:
    ids = Ids()
    form = Protobuf("x", ids, "topic_record_name", "strict")
    whole = value(form, UPDATE)
    assert whole[:6] == HEAD.pack(0, 0) + b"\0"
    rows = form.rows(TABLE, NAME, ("topic",))
    found: Any = message_class(rows.file).FromString(whole[6:])
    assert (found.op, found.source.sequence, found.source.gtid) == ("u", order_text(1, 2), "0-1-42")
    assert (found.before.id, found.before.price) == (str(2**64 - 1), "9.90")
    assert (found.before.colours, found.after.colours) == ("red,green", "")
    assert not found.before.HasField("extra")
    assert found.after.HasField("colours")
    assert (found.after.extra, found.after.raw) == ('{"a": [1, null]}', b"\0\xff")
    less: Any = message_class(rows.file).FromString(form.reference(whole)[6:])
    assert not less.HasField("before")
    assert str(less.source) == str(found.source)
    statement: Any = message_class(protobuf_schema.statement_file()).FromString(
        form.statement(DDL, frame(), ORDER, "topic")[6:]
    )
    assert (statement.type, statement.isDdl, statement.ddl) == ("ALTER", True, DDL.sql)


def test_protobuf_refuses_rows_that_lack_columns() -> None:
    form = Protobuf("x", Ids(), "topic_name", "strict")
    with pytest.raises(RowImageIncomplete):
        value(form, RowChange(None, (1, ABSENT, *AFTER[2:])))


def columns(*names: str) -> list[TypedColumn]:
    return [TypedColumn(name, WireType.STRING, str) for name in names]


@given(st.lists(st.text(min_size=1), unique=True, max_size=6))
def test_a_field_keeps_its_number_whatever_the_others_are(names: list[str]) -> None:
    fields = row_fields(columns(*names), NAME, "escape")
    assert [each.number for each in fields] == [field_number(name) for name in names]
    assert all(0 < each.number < 2**29 and not 19_000 <= each.number < 20_000 for each in fields)
    file = protobuf_schema.row_file(fields, NAME, "escape")
    assert message_class(file).DESCRIPTOR.full_name == "shop.t.Envelope"
    text = protobuf_schema.proto_text(file)
    assert re.findall(r"optional string \S+ = (\d+)", text)[: len(names)] == [
        str(each.number) for each in fields
    ]


def test_two_columns_with_one_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf_schema, "field_number", lambda _name: 5)
    with pytest.raises(NameNotInFormat, match="same number 5"):
        row_fields(columns("a", "b"), NAME, "strict")
    with pytest.raises(NameNotInFormat, match="Protobuf does not allow the name 'a-b'"):
        row_fields(columns("a-b"), NAME, "strict")


def test_fields_of_an_optional_group_keep_other_names() -> None:
    fields = row_fields(columns("a", "_a"), NAME, "strict")
    assert fields[0] == Field("a", "string", field_number("a"), optional=True, json="a")
    kind = message_class(protobuf_schema.row_file(fields, NAME, "strict"))
    row: Any = kind(after={"a": "", "_a": "x"})
    assert row.after.HasField("a")
    assert not row.HasField("before")

"""Formats: the value of a claim has no row, and names for Avro never become the same."""

from io import BytesIO
from typing import Any

import fastavro
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.encode import DebeziumJson, MessageFrame
from relay.encode.formats.avro import Avro
from relay.encode.formats.avro_schema import avro_name
from relay.encode.formats.registered.subjects import HEAD, SchemaKind
from relay.errors import NameNotInFormat, SchemaRefused
from relay.model.change import RowChange
from relay.model.positions.position import OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap

NAME = TableId("shop", "t")
TABLE = TableDefinition(
    TableMap(NAME, (Column("id", ColumnType.LONG, False),), (0,)), (0,), ("int(11)",)
)
FRAME = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5, snapshot=True)
CHANGE = (RowChange(None, (7,)),)
ORDER = OrderPair(1, 2)


class Ids:
    """Gives each subject an id of its own, and keeps the schemas."""

    def __init__(self) -> None:
        self.schemas: dict[str, str] = {}

    def id_of(self, subject: str, schema: str, _kind: SchemaKind) -> int:
        self.schemas[subject] = schema
        return [*self.schemas].index(subject)


@pytest.mark.parametrize("with_schema", [False, True])
def test_the_reference_of_debezium_json_has_no_row(with_schema: bool) -> None:
    form = DebeziumJson("x", with_schema=with_schema)
    whole = form.rows(TABLE, NAME, ("t",)).encode(CHANGE, FRAME, ORDER)
    found = orjson.loads(form.reference(whole))
    payload = orjson.loads(whole)
    payload = payload["payload"] if with_schema else payload
    assert (payload["after"], payload["op"]) == ({"id": 7}, "r")
    assert (found["before"], found["after"]) == (None, None)
    assert found["source"] == payload["source"]


def test_the_reference_of_avro_has_no_row() -> None:
    ids = Ids()
    form = Avro("x", ids, "topic_record_name", "strict")
    whole = form.rows(TABLE, NAME, ("topic",)).encode(CHANGE, FRAME, ORDER)
    (schema,) = ids.schemas.values()
    assert [*ids.schemas] == ["topic-shop.t.Envelope"]
    parsed: Any = fastavro.parse_schema(orjson.loads(schema))
    record, less = (
        fastavro.schemaless_reader(BytesIO(each[HEAD.size :]), parsed, None)
        for each in (whole, form.reference(whole))
    )
    assert record["after"] == {"id": 7}  # type: ignore[index,call-overload]
    assert less == {**record, "after": None}  # type: ignore[dict-item]


def test_several_ids_for_one_row_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="several ids"):
        Avro("x", Ids(), "topic_record_name", "strict").rows(TABLE, NAME, ("a", "b"))


@given(st.text(min_size=1), st.text(min_size=1))
def test_escaped_names_differ_as_the_names_do(one: str, other: str) -> None:
    names = [avro_name(each, "escape", "a column") for each in (one, other)]
    assert (names[0] == names[1]) == (one == other)
    assert all(avro_name(each, "strict", "a column") == each for each in names)


def test_a_strict_name_is_refused() -> None:
    with pytest.raises(NameNotInFormat, match="'order-id'"):
        avro_name("order-id", "strict", "a column")

"""Compiled code and the readable packages give the same bytes in every format with envelopes."""

import struct
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.decode import RowDecoder
from relay.encode import CanalJson, CloudEvents, DebeziumJson, MaxwellJson, MessageFormat
from relay.encode.formats.avro import Avro
from relay.encode.formats.registered.json_schema import JsonSchema
from relay.encode.formats.registered.subjects import SchemaKind
from relay.errors import RelayError, ValueNotPrintable
from relay.model.change import RowChange
from relay.model.row_path import SlowReason
from relay.model.table import Column, ColumnType, TableDefinition, TableMap
from tests.support.examples import examples
from tests.support.rows.table_plans import table_definition, table_plan
from tests.unit.decode.event_bytes import (
    WRITE_V2,
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)
from tests.unit.pipeline.messages.test_bulk_rows import (
    BEFORE,
    FRAME,
    LOGICAL,
    all_events,
    events,
    in_bulk,
    needs_compiled_code,
    readable,
)


class Ids:
    """A registry that gives every schema one id."""

    def id_of(self, subject: str, schema: str, kind: SchemaKind) -> int:
        assert subject
        assert schema
        assert kind
        return 0x01020304


FORMATS: dict[str, MessageFormat] = {
    "debezium-json": DebeziumJson("x", with_schema=False),
    "debezium-json with schemas": DebeziumJson("x", with_schema=True),
    "json-schema": JsonSchema("x", Ids(), "topic_record_name"),
    "cloudevents": CloudEvents("x"),
    "avro": Avro("x", Ids(), "topic_record_name", "escape"),
}
all_formats = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)


@needs_compiled_code
@all_formats
@all_events
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_both_give_the_same_messages(kind: int, data: st.DataObject, form: MessageFormat) -> None:
    event, definition = data.draw(events(kind))
    skip = data.draw(st.integers(0, 2))
    plan = table_plan(definition, LOGICAL, "orders", 7, form)
    found = in_bulk(event, plan, skip, packed=False)
    assert found == (len(event.rows), readable(event, plan, skip, packed=False))


def declared(definition: TableDefinition) -> TableDefinition:
    """The table with facts that a table map lacks: ZEROFILL, and the decimals of FLOAT."""
    pairs = zip(definition.map.columns, definition.type_texts, strict=True)
    return replace(definition, type_texts=tuple(_declared(*each) for each in pairs))


def _declared(column: Column, text: str) -> str:
    if column.unsigned and text.endswith("unsigned"):
        return f"{text.removesuffix(' unsigned')}(7) unsigned zerofill"
    if column.type in (ColumnType.FLOAT, ColumnType.DOUBLE):
        return f"{text}(20,3)"
    return text


@needs_compiled_code
@pytest.mark.parametrize("form", [*FORMATS.values(), CanalJson("exact")], ids=[*FORMATS, "canal"])
@all_events
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_both_give_the_same_messages_of_declared_types(
    kind: int, data: st.DataObject, form: MessageFormat
) -> None:
    event, definition = data.draw(events(kind))
    plan = table_plan(declared(definition), LOGICAL, "orders", 7, form)
    if "zerofill" not in plan.definition.type_texts[0]:  # such a key is left to readable code
        found = in_bulk(event, plan, 0, packed=False)
        assert found == (len(event.rows), readable(event, plan, 0, packed=False))


@needs_compiled_code
@all_formats
@pytest.mark.parametrize("text", ["double", "double(20,3)"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_json_has_no_infinity(value: float, text: str, form: MessageFormat) -> None:
    """No server stores one. Readers would fail on the message, after other rows were read."""
    columns = [
        WrittenColumn(type=3, metadata=b"", name="id", nullable=False, unsigned=False),
        WrittenColumn(type=5, metadata=b"\x08", name="d", nullable=True, unsigned=False),
    ]
    body = rows_body(2, image((struct.pack("<i", 1), struct.pack("<d", value))), kind=WRITE_V2)
    table = WrittenTable(columns, primary_key=(0,))
    event = RowDecoder().open(raw_rows(table.map_body(), body, WRITE_V2))
    definition = replace(table_definition(event.table), type_texts=("int", text))
    plan = table_plan(definition, LOGICAL, "orders", 7, form)
    if form.name == "avro":
        found = in_bulk(event, plan, 0, packed=False)
        assert found == (1, readable(event, plan, 0, packed=False))
        return
    assert in_bulk(event, plan, 0, packed=False) is SlowReason.VALUE
    with pytest.raises(ValueNotPrintable, match="JSON has no such number"):
        readable(event, plan, 0, packed=False)


def test_maxwell_has_no_infinity_either() -> None:
    columns = (Column("d", ColumnType.DOUBLE, nullable=True, length=8),)
    definition = TableDefinition(TableMap(LOGICAL, columns), (), ("double",))
    rows = MaxwellJson().rows(definition, LOGICAL, ("topic",))
    for value in (float("nan"), float("-inf")):
        with pytest.raises(ValueNotPrintable):
            rows.encode((RowChange(None, (value,)),), FRAME, BEFORE)


@needs_compiled_code
@all_formats
@all_events
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_what_is_damaged_is_left_to_the_readable_packages(
    kind: int, data: st.DataObject, form: MessageFormat
) -> None:
    try:
        event, definition = data.draw(events(kind, damaged=True))
    except RelayError:
        return  # its head is damaged
    plan = table_plan(definition, LOGICAL, "orders", 7, form)
    found = in_bulk(event, plan, 0, packed=False)
    if not isinstance(found, SlowReason):
        assert found == (len(event.rows), readable(event, plan, 0, packed=False))

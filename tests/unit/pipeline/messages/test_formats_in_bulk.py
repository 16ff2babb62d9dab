"""Compiled code and the readable packages give the same bytes in every format with envelopes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.encode import CloudEvents, DebeziumJson, MessageFormat
from relay.encode.formats.avro import Avro
from relay.encode.formats.registered.json_schema import JsonSchema
from relay.encode.formats.registered.subjects import SchemaKind
from relay.errors import RelayError
from relay.model.row_path import SlowReason
from tests.support.examples import examples
from tests.support.rows.table_plans import table_plan
from tests.unit.pipeline.messages.test_bulk_rows import (
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

"""The compiled printer and the readable packages give the same bytes.

The printer leaves alone what these refuse.
"""

import shutil
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.compiled import CODE, COMPILED
from relay.decode import RowDecoder
from relay.encode import MessageFrame
from relay.errors import RelayError
from relay.model.change import RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.row_path import SlowReason
from relay.model.table import TableDefinition, TableId
from relay.pipeline.messages.packed import packed_messages
from relay.pipeline.messages.printing.event_printer import RowCount
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.settings import MessageSettings
from tests.support.examples import examples
from tests.support.rows.table_plans import TOPIC, plan_printer, table_definition, table_plan
from tests.unit.decode.event_bytes import (
    DELETE_V2,
    UPDATE_V2,
    WRITE_V2,
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)
from tests.unit.pipeline.messages.column_cases import CASES, KEYS

needs_compiled_code = pytest.mark.skipif(
    not COMPILED, reason=f"without compiled code: {CODE.reason}"
)
all_events = pytest.mark.parametrize("kind", [WRITE_V2, UPDATE_V2, DELETE_V2])
both_forms = pytest.mark.parametrize("packed", [False, True], ids=["row", "event"])

LOGICAL = TableId("shop", 'or"ders')
BEFORE = OrderPair(1_700_000_000_123, 77)
FRAME = MessageFrame(
    event_time_ms=1_700_000_000_000, gtid='0-1-7"', batch=3, publish_time_ms=1_700_000_000_456
)


@st.composite
def events(
    draw: st.DrawFn, kind: int, *, damaged: bool = False
) -> tuple[RowsEvent, TableDefinition]:
    key = draw(st.sampled_from(KEYS))
    others = draw(st.lists(st.sampled_from(CASES), max_size=9))
    columns = [
        WrittenColumn(**{**case, "name": f'c"{i}' if i % 3 else f"ä{i}", "nullable": i > 0})
        for i, (case, _) in enumerate((key, *others))
    ]
    table = WrittenTable(columns, primary_key=(0,))
    values = [key[1], *(st.one_of(st.none(), value) for _, value in others)]
    images: list[bytes] = []
    for _ in range(draw(st.integers(1, 6))):
        row = draw(st.tuples(*values))
        images.append(image(row))
        if kind == UPDATE_V2:
            kept = draw(st.lists(st.booleans(), min_size=len(row), max_size=len(row)))
            other = draw(st.tuples(*values))
            images.append(
                image(
                    [
                        row[0],
                        *(
                            a if keep else b
                            for a, b, keep in zip(row[1:], other[1:], kept[1:], strict=True)
                        ),
                    ]
                )
            )
    body = bytearray(rows_body(len(columns), *images, kind=kind))
    if damaged:
        for _ in range(draw(st.integers(1, 3))):
            body[draw(st.integers(10, len(body) - 1))] = draw(st.integers(0, 255))
        del body[draw(st.integers(10, len(body))) :]
    event = RowDecoder().open(raw_rows(table.map_body(), bytes(body), kind))
    return event, table_definition(event.table)


def plan_of(definition: TableDefinition) -> TablePlan:
    return table_plan(definition, LOGICAL, "orders", 7)


LARGEST = 1_000_000
CONTEXT = EventContext(FRAME, None)


def readable(
    event: RowsEvent, plan: TablePlan, skip: int, *, packed: bool
) -> list[OutboundMessage]:
    settings = MessageSettings(rows_per_message="event" if packed else "row")
    arguments = event, plan, settings, CONTEXT, BEFORE, skip
    found = packed_messages(*arguments, LARGEST) if packed else row_messages(*arguments)
    return [each for _, messages in found for each in messages]


def in_bulk(
    event: RowsEvent, plan: TablePlan, skip: int, *, packed: bool
) -> tuple[int, list[OutboundMessage]] | SlowReason:
    printer = plan_printer(plan, LARGEST // 2 if packed else None)
    done, rows, printed, left, _ = printer.messages(
        [event], FRAME, BEFORE, skip, plan.printed_headers
    )
    assert (left is None) == bool(done)
    if not done:
        return left or SlowReason.VALUE
    messages = [*printed.each(TOPIC)]
    assert (printed.number, printed.value_bytes) == (
        len(messages),
        sum(len(each.value or b"") for each in messages),
    )
    return rows, messages


def test_the_printer_is_here_where_it_can_be_built() -> None:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    assert COMPILED or shutil.which("cc") is None or not header.exists(), (
        f"run `make setup` again: {CODE.reason}"
    )


@needs_compiled_code
@both_forms
@all_events
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_both_give_the_same_messages(kind: int, data: st.DataObject, packed: bool) -> None:
    event, definition = data.draw(events(kind))
    skip = data.draw(st.integers(0, 2))
    plan = plan_of(definition)
    found = in_bulk(event, plan, skip, packed=packed)
    assert found == (len(event.rows), readable(event, plan, skip, packed=packed))


@needs_compiled_code
@both_forms
@all_events
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_what_is_damaged_is_left_to_the_readable_packages(
    kind: int, data: st.DataObject, packed: bool
) -> None:
    try:
        event, definition = data.draw(events(kind, damaged=True))
    except RelayError:
        return  # its head is damaged
    plan = plan_of(definition)
    found = in_bulk(event, plan, 0, packed=packed)
    if found is SlowReason.DAMAGED:
        with pytest.raises(RelayError):
            readable(event, plan, 0, packed=packed)
    if isinstance(found, SlowReason):
        return
    assert found == (len(event.rows), readable(event, plan, 0, packed=packed))


@pytest.mark.parametrize("damaged", [False, True])
@all_events
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_rows_are_counted_as_they_are_decoded(
    kind: int, data: st.DataObject, damaged: bool
) -> None:
    try:
        event, _ = data.draw(events(kind, damaged=damaged))
        count = len(event.rows)
    except RelayError:
        return  # decoding refuses what counting need not look at
    assert RowCount(event.table).of(event) == count

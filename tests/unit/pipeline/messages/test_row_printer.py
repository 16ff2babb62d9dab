"""Why a table's rows are printed by the readable path, and how the status counts what printed
rows.
"""

from typing import Any

import pytest

from relay.compiled import COMPILED, slow_reason
from relay.decode import RowDecoder
from relay.encode import MessageFrame
from relay.model.positions.position import OrderPair
from relay.model.row_path import RowPath, SlowReason
from relay.model.table import ColumnType, TableId
from relay.pipeline.delivery.row_paths import paths_in_words, paths_of_tables, rows_by_path
from relay.pipeline.messages.printing.event_printer import EventPrinter, make_event_printer
from relay.pipeline.messages.table_plans import facts_of
from relay.settings import InstanceSettings
from tests.support.rows.table_plans import plan_printer, table_definition, table_plan
from tests.unit.decode.event_bytes import (
    UPDATE_V2,
    WRITE_V2,
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)
from tests.unit.pipeline.messages.column_cases import UTF8MB4

LOGICAL = TableId("shop", "orders")
FRAME = MessageFrame(
    event_time_ms=1_700_000_000_000, gtid="", batch=3, publish_time_ms=1_700_000_000_456
)
BEFORE = OrderPair(1_700_000_000_123, 77)
NUMBER = WrittenColumn(3, name="id", nullable=False, unsigned=True)
TEXT = WrittenColumn(15, b"\x28\x00", name="t", collation=UTF8MB4)
TABLE = WrittenTable([NUMBER, TEXT], primary_key=(0,))
COMPRESSED = WrittenTable(
    [NUMBER, WrittenColumn(141, b"\x28\x00", name="t", collation=UTF8MB4)], primary_key=(0,)
)


def instance(**settings: Any) -> InstanceSettings:
    source = {"host": "h", "user": "u", "server_id": 7}
    return InstanceSettings.model_validate({"name": "x", "source": source, **settings})


def row(number: int, text: bytes) -> bytes:
    return image([number.to_bytes(4, "little"), bytes([len(text)]) + text])


def left(
    *images: bytes, kind: int = WRITE_V2, largest_bytes: int | None = None
) -> SlowReason | None:
    """Why the table's printer does not print an event of these images."""
    event = RowDecoder().open(raw_rows(TABLE.map_body(), rows_body(2, *images, kind=kind), kind))
    plan = table_plan(table_definition(event.table), LOGICAL, "orders", 7)
    return (
        plan_printer(plan, largest_bytes)
        .messages([event], FRAME, BEFORE, 0, plan.printed_headers)
        .left
    )


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, None),
        ({"message": {"value_style": "canal"}}, SlowReason.VALUE_STYLE),
        ({"message": {"tombstones": True}}, SlowReason.TOMBSTONES),
        ({"row_printer": "readable"}, SlowReason.SETTING),
    ],
)
def test_a_setting_can_turn_the_printers_off(
    settings: dict[str, Any], reason: SlowReason | None
) -> None:
    assert slow_reason(facts_of(instance(**settings))) is reason


def test_a_column_can_be_beyond_the_printers() -> None:
    event = RowDecoder().open(
        raw_rows(COMPRESSED.map_body(), rows_body(2, image([bytes(4), b"\x01\x00"])), mariadb=True)
    )
    assert event.table.columns[1].type is ColumnType.VARCHAR_COMPRESSED
    plan = table_plan(table_definition(event.table), LOGICAL, "orders", 7)
    assert (
        make_event_printer(plan.definition, ("x",), plan.routes[0].partitioning, plan.rows)
        is SlowReason.COLUMN
    )


@pytest.mark.skipif(not COMPILED, reason="the compiled printer was not built")
def test_each_event_that_is_left_alone_has_its_reason() -> None:
    assert left(row(1, b"a")) is None
    assert left(row(1, b"\xff")) is SlowReason.VALUE
    assert left(row(1, b"a"), row(2, b"a"), kind=UPDATE_V2) is SlowReason.MOVED_ROW
    assert left(row(1, b"a" * 30), largest_bytes=40) is SlowReason.LARGE
    assert left(row(1, b"abc")[:-1]) is SlowReason.DAMAGED


def test_the_printer_says_which_path_it_is_or_why_there_is_none() -> None:
    event = RowDecoder().open(raw_rows(TABLE.map_body(), rows_body(2, row(1, b"a"))))
    plan = table_plan(table_definition(event.table), LOGICAL, "orders", 7)
    printer = make_event_printer(plan.definition, ("x",), plan.routes[0].partitioning, plan.rows)
    if COMPILED:
        assert isinstance(printer, EventPrinter)
        assert printer.path is RowPath.COMPILED
    assert (
        make_event_printer(
            plan.definition, ("x",), plan.routes[0].partitioning, plan.rows, maker=None
        )
        is SlowReason.NOT_COMPILED
    )


def test_the_status_names_what_printed_most_first() -> None:
    printed = {
        (RowPath.READABLE, "value"): 2,
        (RowPath.COMPILED, ""): 9,
        (RowPath.READABLE, "moved_row"): 1,
    }
    assert paths_in_words(printed) == "compiled, readable"
    assert rows_by_path(printed) == {"readable: value": 2, "compiled": 9, "readable: moved_row": 1}
    assert paths_in_words({}) == ""


def test_each_table_has_its_paths() -> None:
    printed = {
        (TableId("shop", "b"), RowPath.READABLE, "column"): 4,
        (TableId("shop", "a"), RowPath.READABLE, "value"): 1,
        (TableId("shop", "a"), RowPath.COMPILED, ""): 7,
    }
    assert paths_of_tables(printed) == {
        "shop.a": {"compiled": 7, "readable: value": 1},
        "shop.b": {"readable: column": 4},
    }

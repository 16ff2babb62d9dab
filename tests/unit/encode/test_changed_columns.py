"""A column is changed if its printed value is: field tags and Maxwell's `old` follow that."""

from typing import Any

import orjson
import pytest

from relay.encode import MaxwellJson, MessageFrame
from relay.model.change import RowChange
from relay.model.positions.position import OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import JsonDocument
from relay.pipeline.messages.table_plan import changed_columns
from tests.support.rows.table_plans import table_definition

CASES = [
    (ColumnType.JSON, JsonDocument(1), JsonDocument(True), True),
    (ColumnType.JSON, JsonDocument({"a": [0]}), JsonDocument({"a": [False]}), True),
    (ColumnType.JSON, JsonDocument(1), JsonDocument(1.0), True),
    (ColumnType.JSON, JsonDocument({"a": [0]}), JsonDocument({"a": [0]}), False),
    (ColumnType.DOUBLE, 0.0, -0.0, True),
    (ColumnType.DOUBLE, 0.5, 0.5, False),
    (ColumnType.DOUBLE, None, 0.0, True),
]


def of(kind: ColumnType) -> TableDefinition:
    return table_definition(
        TableMap(
            TableId("shop", "t"),
            (
                Column("id", ColumnType.LONG, nullable=False),
                Column("v", kind, nullable=True, length=8),
            ),
            (0,),
        )
    )


@pytest.mark.parametrize(("kind", "before", "after", "is_changed"), CASES)
def test_a_value_that_prints_differently_is_changed(
    kind: ColumnType, before: Any, after: Any, *, is_changed: bool
) -> None:
    change, definition = RowChange((7, before), (7, after)), of(kind)
    assert changed_columns(change, definition) == ["v"] * is_changed
    frame = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5)
    rows = MaxwellJson().rows(definition, definition.id, ["t"])
    old = orjson.loads(rows.encode([change], frame, OrderPair(1, 2)))["old"]
    assert list(old) == ["v"] * is_changed

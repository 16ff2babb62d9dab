"""A request for limits or a pause changes the fields that it names, and no other one."""

from dataclasses import replace
from typing import Any

import pytest

from api.models.flow import FlowWish
from relay.state import Flow

PAUSED = Flow(paused=True, rows_per_second=5, bytes_per_second=900, by="ann", version=3)


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ({}, {}),
        ({"rows_per_second": 100}, {"rows_per_second": 100}),
        ({"bytes_per_second": 0}, {"bytes_per_second": 0}),
        ({"rows_per_second": None}, {"rows_per_second": None}),
        ({"paused": False}, {"paused": False}),
        (
            {"paused": True, "rows_per_second": None, "bytes_per_second": None},
            {"rows_per_second": None, "bytes_per_second": None},
        ),
    ],
)
def test_a_field_that_is_not_named_stays(body: dict[str, Any], changed: dict[str, Any]) -> None:
    assert FlowWish.model_validate(body).applied_to(PAUSED) == replace(PAUSED, **changed)

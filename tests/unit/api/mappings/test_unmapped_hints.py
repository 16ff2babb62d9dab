"""Hints on unmapped tables: similar columns, and names of schema change tools."""

import pytest

from api.services.mappings.likeness import like_columns, tool_table
from relay.model.table import TableId
from relay.state import DroppedName

REASON = "no table mapping lists it."


@pytest.mark.parametrize(
    ("name", "tool", "original"),
    [
        ("_lead_gho", "gh-ost", "lead"),
        ("_lead_ghc", "gh-ost", "lead"),
        ("_lead_del", "gh-ost", "lead"),
        ("_lead_20260131235959_del", "gh-ost", "lead"),
        ("__lead_gho", "gh-ost", "_lead"),
        ("_lead_new", "pt-online-schema-change", "lead"),
        ("_lead_old", "pt-online-schema-change", "lead"),
        ("___lead_old", "pt-online-schema-change", "lead"),
        ("_lead_{0}_old", "pt-online-schema-change", "lead_{0}"),
        ("_orders_20260131235959_new", "pt-online-schema-change", "orders_20260131235959"),
    ],
)
def test_a_table_of_a_schema_change_names_the_tool(name: str, tool: str, original: str) -> None:
    found = tool_table(TableId("crm_01", name))
    assert found is not None
    assert (found.tool, found.original) == (tool, f"crm_01.{original}")
    assert f"Named as {tool} names " in found.sentence
    assert original in found.sentence
    assert found.sentence.endswith("Such tables are normally not mapped.")


@pytest.mark.parametrize(
    "name", ["lead", "lead_gho", "_lead", "_gho", "__gho", "_lead_GHO", "_lead_new2", "_old", ""]
)
def test_other_names_are_of_no_tool(name: str) -> None:
    assert tool_table(TableId("crm_01", name)) is None


def test_similar_columns_are_said_with_their_number() -> None:
    assert like_columns(DroppedName("a.b", REASON)) is None
    same = like_columns(DroppedName("a.b", REASON, 1, 0, "shop.orders", 12, 12))
    assert same is not None
    assert same.sentence == "the same columns as shop.orders"
    near = like_columns(DroppedName("a.b", REASON, 1, 0, "shop.orders", 10, 12))
    assert near is not None
    assert near.sentence == "10 of 12 columns are those of shop.orders"

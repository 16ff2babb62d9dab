"""Rows that a reader sees of a message: columns, keys, and what is hidden."""

import json
from typing import Any

import pytest

from relay.kafka import TailRecord
from relay.model.table import TableId
from relay.operations import PeekedRow, RowReader
from relay.operations.peek.hidden_columns import HiddenColumns
from relay.settings import InstanceSettings

NAME = TableId("shop", "client")
REAL = TableId("shop_01", "user")
ROW = {"id": "7", "state": "paid", "email": "a@b.c", "notes": "n"}


def reader(**settings: Any) -> RowReader:
    instance = InstanceSettings.model_validate(
        {"name": "shop", "source": {"host": "h", "user": "u"}, **settings}
    )
    hidden = HiddenColumns([instance], {"shop": {REAL}})
    return RowReader("shop", frozenset({NAME}), hidden)


def record(
    kind: str = "UPDATE",
    old: dict[str, str] | None = None,
    *,
    rows: list[dict[str, str]] | None = None,
    key: bytes | None = b'["shop.client","7"]',
    table: str = "client",
    headers: tuple[tuple[str, bytes], ...] = (),
) -> TailRecord:
    value = {
        "data": [ROW] if rows is None else rows,
        "database": "shop",
        "table": table,
        "type": kind,
        "old": None if old is None else [old],
        "pkNames": ["id"],
        "mysqlType": {"id": "bigint"},
    }
    return TailRecord(2, 40, 1000, key, json.dumps(value).encode(), headers)


def only(found: list[PeekedRow]) -> PeekedRow:
    (row,) = found
    return row


@pytest.mark.parametrize(
    ("kind", "old", "before", "after"),
    [
        ("INSERT", None, None, "paid"),
        ("UPDATE", {"state": "open"}, "open", "paid"),
        ("UPDATE", {"email": "x"}, "paid", "paid"),
        ("DELETE", None, "paid", None),
    ],
)
def test_a_column_has_its_value_before_and_after(
    kind: str, old: dict[str, str] | None, before: str | None, after: str | None
) -> None:
    row = only(reader().rows(record(kind, old)))
    state = row.columns[1]
    assert (state.before, state.after) == (before, after)
    assert state.changed == (old is not None and "state" in old)
    assert row.key == ("7",)


@pytest.mark.parametrize(
    "other",
    [
        record(table="orders", key=None),
        record(key=b'["shop.clients","7"]'),
        record(kind="QUERY"),
        TailRecord(0, 1, 1, b'["shop.client","7"]', None, ()),
        TailRecord(0, 1, 1, None, b"\xff{", ()),
        TailRecord(0, 1, 1, None, b"[1]", ()),
        TailRecord(0, 1, 1, None, b'{"type":"INSERT","database":"shop","table":"client"}', ()),
    ],
)
def test_what_is_no_row_of_the_table_is_left_out(other: TailRecord) -> None:
    assert reader().rows(other) == []


def test_a_message_of_several_rows_has_each_with_its_own_order() -> None:
    headers = (("order", b"0000000000009.0000000000000000005"), ("orders", b"0,3"))
    found = reader().rows(
        record("INSERT", rows=[ROW, {**ROW, "id": "8"}], key=None, headers=headers)
    )
    assert [each.key_text for each in found] == ["7", "8"]
    assert [each.order and each.order.execute_position for each in found] == [5, 8]


def test_a_mask_hides_values_and_a_rule_the_whole_column() -> None:
    masks = [{"columns": ".*\\.user\\.EMAIL", "method": "replace"}]
    rules = [{"tables": "shop_.*\\.user", "without_fields": ["Notes"]}]
    row = only(reader(masks=masks, rules=rules).rows(record(old={"email": "x", "notes": "y"})))
    assert [each.name for each in row.columns] == ["id", "state", "email"]
    email = row.columns[2]
    assert (email.before, email.after, email.hidden, email.changed) == (None, None, True, True)


def test_a_list_of_fields_keeps_the_key_and_hides_the_rest() -> None:
    rules = [{"tables": "shop_01\\.user", "fields": ["state"]}]
    row = only(reader(rules=rules).rows(record()))
    assert [each.name for each in row.columns] == ["id", "state"]
    elsewhere = [{"tables": "shop_02\\.user", "fields": ["state"]}]
    assert len(only(reader(rules=elsewhere).rows(record())).columns) == len(ROW)


def test_a_mask_also_holds_for_a_real_table_that_only_the_message_names() -> None:
    masks = [{"columns": "shop_09\\.user\\.email", "method": "replace"}]
    row = only(reader(masks=masks).rows(record(headers=(("real", b"shop_09.user"),))))
    assert row.columns[2].hidden
    assert not only(reader(masks=masks).rows(record())).columns[2].hidden


def test_a_masked_key_is_hidden_in_the_key_too() -> None:
    masks = [{"columns": ".*\\.id", "method": "hash", "salt": "0123456789abcdef"}]
    row = only(reader(masks=masks).rows(record()))
    assert (row.key, row.key_hidden) == ((), True)


def test_without_values_nothing_of_a_row_is_told_but_names_and_places() -> None:
    row = only(reader().rows(record(old={"state": "open"}))).without_values()
    told = json.dumps(row.fields())
    for value in ("paid", "open", "a@b.c", '"7"'):
        assert value not in told
    assert (row.changed, row.key_hidden, row.partition, row.offset) == (("state",), True, 2, 40)


def test_a_claimed_value_has_the_key_of_its_message() -> None:
    claim = json.dumps({"sha256": "0" * 64, "size": 9, "url": "s3://b/c"}).encode()
    row = only(reader().rows(record(rows=[], headers=(("claim", claim),))))
    assert (row.key_text, row.columns) == ("7", ())
    assert row.claim == "The value of 9 bytes is in the store of claims."

"""The columns of a dead letter: rows of messages, rows that could not be printed, and neither."""

import json
from typing import Any

import pytest

from relay.dead_letters import DeadLetter
from relay.model.message import OutboundMessage
from relay.model.table import TableId
from relay.operations import LetterRows, letter_rows
from relay.operations.peek.hidden_columns import HiddenColumns
from relay.settings import InstanceSettings

REAL = TableId("shop_01", "user")
ALL = slice(0, 50)
MASK = {"columns": "shop_01.user.email", "method": "hash", "salt": "s"}


def hidden(**settings: Any) -> HiddenColumns:
    source = {"host": "h", "user": "u"}
    instance = InstanceSettings.model_validate({"name": "shop", "source": source, **settings})
    return HiddenColumns([instance], {"shop": {REAL}})


def letter(value: bytes | None, *, is_message: bool = True) -> DeadLetter:
    message = OutboundMessage("shop", 0, b'["shop.client","7"]', value, ())
    return DeadLetter(
        id="1-0",
        code="MESSAGE_TOO_LARGE",
        reason="r",
        real=str(REAL),
        logical="shop.client",
        file="f",
        offset=4,
        gtid="",
        execute_time=1,
        execute_position=2,
        message=message,
        value_bytes=len(value or b""),
        is_message=is_message,
        written_ms=1000,
    )


def message(kind: str, rows: list[dict[str, str | None]] | None, old: Any = None) -> DeadLetter:
    value = {
        "data": rows,
        "database": "shop",
        "table": "client",
        "type": kind,
        "old": old,
        "pkNames": ["id"],
        "mysqlType": {"id": "bigint"},
    }
    return letter(json.dumps(value).encode())


def values(found: LetterRows, row: int = 0) -> list[tuple[str, str | None, str | None]]:
    return [(each.name, each.before, each.after) for each in found.rows[row].columns]


def test_an_update_has_both_sides_and_the_changed_columns() -> None:
    row: dict[str, str | None] = {"id": "7", "state": "paid", "note": None}
    found = letter_rows(message("UPDATE", [row], [{"state": "open"}]), hidden(), ALL)
    assert values(found) == [("id", "7", "7"), ("state", "open", "paid"), ("note", None, None)]
    assert [each.name for each in found.rows[0].columns if each.changed] == ["state"]
    assert (found.count, found.note, found.hides) == (1, "", False)


@pytest.mark.parametrize(
    ("kind", "sides"), [("INSERT", (None, "paid")), ("DELETE", ("paid", None))]
)
def test_an_insert_and_a_delete_have_one_side(
    kind: str, sides: tuple[str | None, str | None]
) -> None:
    found = letter_rows(message(kind, [{"id": "7", "state": "paid"}]), hidden(), ALL)
    assert values(found)[1] == ("state", *sides)


def test_rows_of_a_packed_message_come_in_parts() -> None:
    packed = message("INSERT", [{"id": str(number)} for number in range(10_000)])
    found = letter_rows(packed, hidden(), slice(9_990, 10_040))
    assert [each.row for each in found.rows] == list(range(9_990, 10_000))
    assert values(found, 9) == [("id", None, "9999")]
    assert found.count == 10_000
    assert letter_rows(packed, hidden(), slice(20_000, 20_050)).rows == ()


def test_a_message_without_rows_has_no_columns() -> None:
    found = letter_rows(message("INSERT", []), hidden(), ALL)
    assert [each.columns for each in found.rows] == [()]


def test_masks_and_rules_of_today_hide_columns_and_the_key() -> None:
    row: dict[str, str | None] = {"id": "7", "email": "a@b.c", "notes": "n"}
    old = [{"email": "old@b.c"}]
    rule = {"tables": "shop_01.user", "without_fields": ["notes"]}
    found = letter_rows(message("UPDATE", [row], old), hidden(masks=[MASK], rules=[rule]), ALL)
    assert values(found) == [("id", "7", "7"), ("email", None, None)]
    assert [each.hidden for each in found.rows[0].columns] == [False, True]
    assert (found.hides, found.rows[0].key_hidden) == (True, False)
    of_key = {**MASK, "columns": "shop_01.user.id"}
    assert letter_rows(message("UPDATE", [row]), hidden(masks=[of_key]), ALL).rows[0].key_hidden
    other = {**MASK, "columns": "shop_01.orders.email"}
    assert not letter_rows(message("UPDATE", [row], old), hidden(masks=[other]), ALL).hides


def test_a_row_that_could_not_be_printed_shows_the_values_as_they_were_read() -> None:
    document = {
        "columns": [
            {"name": "id", "type": "LONG"},
            {"name": "raw", "type": "BLOB"},
            {"name": "email", "type": "VARCHAR"},
        ],
        "before": {"id": 7, "raw": {"base64": "AAE="}, "email": "x"},
        "after": {"id": 7, "raw": {"base64": "AAI="}, "email": "y"},
    }
    kept = letter(json.dumps(document).encode(), is_message=False)
    found = letter_rows(kept, hidden(masks=[MASK]), ALL)
    assert values(found) == [("id", "7", "7"), ("raw", "AAE=", "AAI="), ("email", None, None)]
    assert [each.changed for each in found.rows[0].columns] == [False, True, True]
    assert (found.rows[0].operation, found.note, found.hides) == ("UPDATE", "", True)
    assert found.rows[0].key_hidden


def test_a_partial_row_says_that_columns_are_missing() -> None:
    columns = [{"name": "id", "type": "LONG"}, {"name": "note", "type": "VARCHAR"}]
    document = {"columns": columns, "before": {"id": 7}, "after": None}
    kept = letter(json.dumps(document).encode(), is_message=False)
    found = letter_rows(kept, hidden(), ALL)
    assert values(found) == [("id", "7", None), ("note", None, None)]
    assert found.rows[0].operation == "DELETE"
    assert "did not log every column" in found.note


@pytest.mark.parametrize(
    ("value", "is_message", "note"),
    [
        (None, True, "The message is a tombstone: it has no columns."),
        (b'{"before":null,"after":{}}', True, "has the format debezium-json."),
        (b'{"database":"shop","type":"insert"}', True, "has the format maxwell-json."),
        (b"\0\0\0\0\1abc", True, "has the format avro"),
        (b'{"data":[{"id":', True, "cannot be read as a message of the format canal-json"),
        (b"\xff\xfe", True, "cannot be read as a message of the format canal-json"),
        (b"[]", True, "cannot be read as a message of the format canal-json"),
        (b"{}", False, "cannot be read as a row"),
        (b'{"data":null,"database":"s","type":"QUERY"}', True, "is a statement (QUERY)"),
    ],
)
def test_a_value_without_columns_says_why(value: bytes | None, is_message: bool, note: str) -> None:
    kept = letter(value, is_message=is_message)
    found = letter_rows(kept, hidden(), ALL)
    assert (found.rows, found.hides) == ((), False)
    assert note in found.note
    is_masked = value is not None
    assert letter_rows(kept, hidden(masks=[MASK]), ALL).hides is is_masked

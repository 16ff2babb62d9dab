"""Records of the relay as changes, and everything else as a named error."""

import json
import pickle
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roma_client.errors import ClaimGone, ClaimUnreadable, CorruptMessage, UsageError
from roma_client.records.change import NO_ORDER, Change, Operation, Order, SourcePosition
from roma_client.records.decoding import Reading, changes_of
from roma_client.records.decoding.message import parts_of
from roma_client.records.record import Record
from roma_client.records.selection import Selection, canal_filter
from tests.support.clients.made_records import claimed_record, row_record, statement_record

ORDERS = Selection.of_table("shop", "orders", "shop", frozenset(), statements=False)
EVERY_TABLE = Selection(lambda _name: True)
READING = Reading()


def test_an_update_has_both_rows_and_the_columns_that_it_changed() -> None:
    record = row_record(
        [{"id": "7", "n": "2"}], kind="UPDATE", old=[{"n": "1"}], types={"n": "int"}
    )
    (change,) = changes_of(record, ORDERS, READING)
    assert (change.before, change.after) == ({"id": 7, "n": 1}, {"id": 7, "n": 2})
    assert (change.changed, change.key) == (frozenset({"n"}), '["shop.orders","7"]')
    assert (change.order, change.execute_time.isoformat()) == (
        Order(1000, 1),
        "1970-01-01T00:00:01+00:00",
    )


@pytest.mark.parametrize("rows", [b"[{]", b"", b"7", b'[{"id":"7"}],"data":[', b'["7'])
def test_broken_rows_are_corrupt_also_if_the_text_around_is_that_of_a_whole_message(
    rows: bytes,
) -> None:
    whole = row_record([{"id": "7"}])
    value = json.dumps(json.loads(whole.value or b""), separators=(",", ":")).encode()
    whole = whole._replace(value=value)
    broken = whole._replace(value=value.replace(b'[{"id":"7"}]', rows, 1))
    for _ in range(2):
        (change,) = changes_of(whole, ORDERS, READING)
        assert change.after == {"id": 7}
        with pytest.raises(CorruptMessage):
            changes_of(broken, ORDERS, READING)


def test_an_update_of_a_partial_row_names_the_columns_whose_former_value_is_unknown() -> None:
    """With MINIMAL, the image before an update is the key, and that after it what was written."""
    record = row_record(
        [{"id": "7", "n": "2", "m": "x"}],
        kind="UPDATE",
        old=[{"m": "w"}],
        types={"n": "int"},
        unknown='{"data":["note"],"old":["n"]}',
    )
    (change,) = changes_of(record, ORDERS, READING)
    assert change.changed == {"n", "m"}
    assert (change.before, change.after) == ({"id": 7, "m": "w"}, {"id": 7, "n": 2, "m": "x"})
    assert change.unknown == {"note", "n"}


def test_full_headers_tell_the_place_on_the_source() -> None:
    record = row_record(
        [{"id": "7"}],
        source="1:binlog:x.000002:4711",
        real="shop_01.orders_3",
        instance="shop-a",
        history="row_end",
        unknown='{"data":["note"],"old":["n"]}',
    )
    (change,) = changes_of(record, ORDERS, READING)
    assert change.source == SourcePosition(1, "binlog:x.000002", 4711)
    assert (change.real, change.instance, change.history) == (
        *("shop_01.orders_3", "shop-a"),
        "row_end",
    )
    assert change.unknown == {"note", "n"}


def test_other_tables_tags_and_topics_are_left_out() -> None:
    paid = Selection.of_table("shop", "orders", "shop", frozenset({"paid"}), statements=False)
    own = row_record([{"id": "1"}])
    assert changes_of(row_record([{"id": "1"}], table="orders2"), ORDERS, READING) == []
    assert changes_of(row_record([{"id": "1"}], table="cart", key=False), ORDERS, READING) == []
    assert changes_of(own, paid, READING) == []
    assert len(changes_of(row_record([{"id": "1"}], tags=("orders", "paid")), paid, READING)) == 1
    assert changes_of(own._replace(topic="other"), ORDERS, READING) == []


def test_a_tombstone_is_a_delete_of_which_only_the_key_is_known() -> None:
    made = row_record([{"id": "1"}], order=(5000, 8), tags=("orders", "paid"))._replace(value=None)
    (change,) = changes_of(made, ORDERS, READING)
    assert (change.operation, change.key, change.is_key_only) == (
        Operation.DELETE,
        '["shop.orders","1"]',
        True,
    )
    assert (change.database, change.table, change.order) == ("shop", "orders", (5000, 8))
    assert (change.before, change.after, dict(change.row)) == (None, None, {})
    assert change.tags == ("orders", "paid")
    (unordered,) = changes_of(made._replace(headers=()), ORDERS, READING)
    assert unordered.order == NO_ORDER
    (all_tables,) = changes_of(made, EVERY_TABLE, READING)
    assert all_tables.key == change.key
    (row,) = changes_of(row_record([{"id": "1"}], kind="DELETE"), ORDERS, READING)
    assert not row.is_key_only


@pytest.mark.parametrize("key", [None, b"", b"7", b'{"moved":1}', b'["shop.orders"]', b'[1,"2"]'])
def test_a_record_without_a_value_whose_key_is_of_no_row_is_left_out(key: bytes | None) -> None:
    record = row_record([{"id": "1"}])._replace(value=None, key=key)
    assert changes_of(record, EVERY_TABLE, READING) == []


def test_other_tombstones_and_markers_are_left_out() -> None:
    other = row_record([{"id": "1"}], table="orders2")._replace(value=None)
    assert changes_of(other, ORDERS, READING) == []
    paid = Selection.of_table("shop", "orders", "shop", frozenset({"paid"}), statements=False)
    own = row_record([{"id": "1"}])._replace(value=None)
    assert changes_of(own, paid, READING) == []
    assert changes_of(own._replace(headers=[("moved", b"{}")]), ORDERS, READING) == []


def test_a_statement_is_a_change_for_those_who_asked_for_statements() -> None:
    ddl = statement_record("ALTER …")
    asked = Selection.of_table("shop", "orders", "shop", frozenset(), statements=True)
    (change,) = changes_of(ddl, asked, READING)
    assert (change.operation, change.sql, change.row) == (Operation.STATEMENT, "ALTER …", {})
    assert changes_of(ddl, ORDERS, READING) == []


def test_a_claimed_value_is_read_where_it_is_and_compared_with_its_digest() -> None:
    record, value = claimed_record({"id": "7"}, "s3://b/7")
    assert changes_of(record, ORDERS, Reading("python", lambda _: value))[0].row == {"id": 7}
    with pytest.raises(ClaimUnreadable, match="s3://b/7"):
        changes_of(record, ORDERS, READING)
    with pytest.raises(ClaimGone, match="its size or SHA-256 differs"):
        changes_of(record, ORDERS, Reading("python", lambda _: value + b" "))


@pytest.mark.parametrize("raised", [FileNotFoundError, KeyError, ValueError, TimeoutError])
def test_an_error_of_the_claim_reader_says_whether_the_value_is_gone(
    raised: type[Exception],
) -> None:
    record, _ = claimed_record({"id": "7"}, "s3://b/7")

    def read(url: str) -> bytes:
        raise raised(url)

    with pytest.raises(ClaimUnreadable, match="s3://b/7, the value of record 0") as caught:
        changes_of(record, ORDERS, Reading("python", read))
    assert isinstance(caught.value, ClaimGone) == (raised in {FileNotFoundError, KeyError})


@pytest.mark.parametrize("kind", ["insert", "bootstrap-insert", "delete", "table-alter"])
def test_a_row_in_another_format_is_no_statement(kind: str) -> None:
    """Such as maxwell-json, which names database, table and type too."""
    told = {"database": "shop", "table": "orders", "type": kind, "ts": 1, "data": {"id": 1}}
    record = row_record([{"id": "1"}])._replace(value=json.dumps(told).encode())
    with pytest.raises(CorruptMessage, match=f"its type is '{kind}'"):
        changes_of(record, ORDERS, READING)


@given(st.binary() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_any_other_value_is_corrupt_and_named_with_its_place(value: bytes | str) -> None:
    record = row_record([{"id": "1"}], offset=42)
    encoded = value if isinstance(value, bytes) else value.encode()
    with pytest.raises(CorruptMessage, match="Record 42 of shop, partition 0"):
        changes_of(record._replace(value=encoded), ORDERS, READING)


@given(st.sampled_from(["data", "mysqlType", "pkNames", "es", "type", "gtid", "old", "table"]))
def test_a_message_that_lacks_a_field_is_corrupt(field: str) -> None:
    record = row_record([{"id": "1"}])
    message = {
        name: each for name, each in json.loads(record.value or b"").items() if name != field
    }
    with pytest.raises(CorruptMessage):
        changes_of(record._replace(value=json.dumps(message).encode()), ORDERS, READING)


@pytest.mark.parametrize("header", [b"", b"1.2", "1٢".encode(), b"\xff"])
def test_an_order_of_another_form_is_corrupt(header: bytes) -> None:
    record: Record = row_record([{"id": "1"}])
    with pytest.raises(CorruptMessage):
        changes_of(record._replace(headers=[("order", header)]), ORDERS, READING)


def test_a_name_that_json_escapes_is_found_by_the_value() -> None:
    odd = Selection.of_table("shop", 'ord"ers', "shop", frozenset(), statements=False)
    record = row_record([{"id": "1"}], table='ord"ers')
    assert len(changes_of(record._replace(key=b'["shop.ord\\"ers","1"]'), odd, READING)) == 1


def test_canals_filter_takes_whole_names_without_regard_to_case() -> None:
    takes = canal_filter(r"shop\..*,crm\.(lead|cust{1,2}omer)")
    names = ["shop.orders", "SHOP.Cart", "crm.lead", "crm.leads", "myshop.a", "crm.custtomer"]
    assert [each for each in names if takes(each)] == [
        *("shop.orders", "SHOP.Cart", "crm.lead", "crm.custtomer")
    ]
    with pytest.raises(UsageError, match="not a list of regular expressions"):
        canal_filter("shop[")


_TEXTS = st.text() | st.sampled_from(
    ['}],"database":"', ',"mysqlType":{"a":"b"},"old":', '\\"', "}", "},", ',"old":[{', "}],"]
)
_OBJECTS = st.dictionaries(_TEXTS, st.none() | _TEXTS, max_size=3)
_TYPES = st.dictionaries(_TEXTS, _TEXTS, max_size=3)


@given(
    data=st.none() | st.lists(_OBJECTS, max_size=2),
    old=st.none() | st.lists(_OBJECTS, max_size=2),
    types=st.none() | _TYPES,
    sql_types=st.none() | _TYPES,
    names=st.none() | st.lists(_TEXTS, max_size=2),
    text=_TEXTS,
)
def test_a_message_is_parsed_as_json_whatever_its_values_look_like(
    data: Any, old: Any, types: Any, sql_types: Any, names: Any, text: str
) -> None:
    message = {
        "data": data,
        "database": text,
        "es": 1,
        "gtid": text,
        "mysqlType": types,
        "old": old,
        "pkNames": names,
        "sql": text,
        "sqlType": sql_types,
        "table": text,
        "ts": 1,
        "type": "INSERT",
    }
    for separators in ((",", ":"), (", ", ": ")):
        value = json.dumps(message, separators=separators).encode()
        for _ in range(2):  # the text around the rows is shared
            (frame, rows, olds), _ = parts_of(value)
            assert {**frame.message, "data": rows, "old": olds} == message


def test_a_column_whose_name_ends_like_an_object_is_read() -> None:
    record = row_record([{"id": "1", "a},": "x"}], types={"a},": "text"})
    value = json.dumps(json.loads(record.value or b""), separators=(",", ":")).encode()
    (change,) = changes_of(record._replace(value=value), ORDERS, READING)
    assert (change.after, change.types["a},"]) == ({"id": 1, "a},": "x"}, "text")


@pytest.mark.parametrize("cut", [1, 5, 60, 200])
def test_a_message_that_is_cut_off_is_no_json(cut: int) -> None:
    value = json.dumps(json.loads(row_record([{"id": "1"}]).value or b""), separators=(",", ":"))
    with pytest.raises(ValueError, match=r"."):
        parts_of(value[:-cut].encode())


def test_a_change_has_all_its_fields() -> None:
    asked = Selection.of_table("shop", "orders", "shop", frozenset(), statements=True)
    changes = [
        *changes_of(row_record([{"id": "1"}, {"id": "2"}], orders="0,1"), ORDERS, READING),
        *changes_of(statement_record("ALTER …"), asked, READING),
    ]
    for each in changes:
        found = {field.name: getattr(each, field.name) for field in fields(Change)}
        assert Change(**found) == each == pickle.loads(pickle.dumps(each))  # noqa: S301  # made here
        assert repr(each) == repr(Change(**found))
        with pytest.raises(AttributeError):
            each.nothing  # type: ignore[attr-defined]  # noqa: B018

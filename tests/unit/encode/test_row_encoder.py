"""Messages in the exact style, keys, splits and headers."""

import json
from dataclasses import replace
from typing import Any

import pytest

from relay.encode import (
    KeyEncoder,
    MessageFrame,
    Origin,
    PartitionTexts,
    RowEncoder,
    key_changed,
    message_headers,
    split_update,
    tag_headers,
)
from relay.envelope import FIELDS, ColumnRename, value_schema
from relay.errors import RowImageIncomplete
from relay.model.change import RowChange
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import ABSENT, JsonDocument, Row

NAME = TableId("logicDb", "logicTb")
FRAME = MessageFrame(
    event_time_ms=1_700_000_000_000, gtid="0-1-2", batch=7, publish_time_ms=1_700_000_000_123
)
COLUMNS = (
    Column("id", ColumnType.LONG, nullable=False, unsigned=True),
    Column("name", ColumnType.VARCHAR, nullable=True, length=80, charset="utf8mb4"),
    Column("price", ColumnType.DOUBLE, nullable=True),
    Column("doc", ColumnType.JSON, nullable=True),
    Column("kind", ColumnType.ENUM, nullable=True, labels=("a", "b")),
)
DEFINITION = TableDefinition(
    TableMap(TableId("real1", "t"), COLUMNS, (0,)),
    (0,),
    ("int unsigned", "varchar(20)", "double", "json", "enum('a','b')"),
)
ROW: Row = (1, "é\n".encode(), 1.0, JsonDocument({"a": 1}), 2)


def message(change: RowChange, definition: TableDefinition = DEFINITION) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(
        RowEncoder(definition, NAME, "exact").encode([change], FRAME)
    )
    return decoded


def changed(**columns: Any) -> Row:
    names = [column.name for column in COLUMNS]
    return tuple(columns.get(name, value) for name, value in zip(names, ROW, strict=True))


def test_an_insert_in_full() -> None:
    value = RowEncoder(DEFINITION, NAME, "exact").encode([RowChange(None, ROW)], FRAME)
    assert value.decode() == (
        '{"data":[{"id":"1","name":"é\\n","price":"1","doc":"{\\"a\\": 1}","kind":"b"}],"database":"logicDb","es":1700000000000,'  # noqa: E501
        '"gtid":"0-1-2","id":7,"isDdl":false,"mysqlType":{"id":"int unsigned","name":"varchar(20)","price":"double","doc":"json",'  # noqa: E501
        '"kind":"enum(\'a\',\'b\')"},"old":null,"pkNames":["id"],"sql":"","sqlType":{"id":-5,"name":12,"price":8,"doc":12,"kind":12},'
        '"table":"logicTb","ts":1700000000123,"type":"INSERT"}'
    )
    assert tuple(json.loads(value)) == FIELDS == tuple(value_schema()["required"])


def test_a_delete_carries_the_image_before() -> None:
    decoded = message(RowChange(ROW, None))
    assert (decoded["type"], decoded["data"][0]["kind"], decoded["old"]) == ("DELETE", "b", None)


@pytest.mark.parametrize(
    ("after", "old"),
    [
        ({"name": b"x"}, {"name": "é\n"}),
        ({"name": None, "kind": 1}, {"name": "é\n", "kind": "b"}),
        ({"doc": JsonDocument({"a": True})}, {"doc": '{"a": 1}'}),
        ({"doc": JsonDocument({"a": 1.0})}, {"doc": '{"a": 1}'}),
        ({"price": 2.0}, {"price": "1"}),
        ({}, {}),
    ],
)
def test_old_holds_what_this_row_changed(after: dict[str, Any], old: dict[str, str]) -> None:
    assert message(RowChange(ROW, changed(**after)))["old"] == [old]


def test_a_zero_that_changes_its_sign_is_a_change() -> None:
    assert message(RowChange(changed(price=0.0), changed(price=-0.0)))["old"] == [{"price": "0"}]


def test_old_does_not_leak_between_rows_but_in_canals_style() -> None:
    rows = [RowChange(ROW, changed(name=b"x")), RowChange(ROW, changed(kind=1))]
    olds = {
        style: json.loads(RowEncoder(DEFINITION, NAME, style).encode(rows, FRAME))["old"]
        for style in ("exact", "canal")
    }
    assert olds["exact"] == [{"name": "é\n"}, {"kind": "b"}]
    assert olds["canal"] == [{"name": "é\n"}, {"name": "é\n", "kind": "2"}]


def test_canal_says_of_each_part_what_holds_for_the_whole_event() -> None:
    rows = [RowChange(None, changed(id=1)), RowChange(None, changed(id=2**31))]
    event = RowEncoder(DEFINITION, NAME, "canal").event(rows)
    assert json.loads(event.encode([0], FRAME))["sqlType"]["id"] == -5
    alone = RowEncoder(DEFINITION, NAME, "canal").encode(rows[:1], FRAME)
    assert json.loads(alone)["sqlType"]["id"] == 4


def test_absent_columns_are_left_out_everywhere() -> None:
    decoded = message(
        RowChange(changed(name=ABSENT, doc=ABSENT), (ABSENT, b"x", ABSENT, ABSENT, ABSENT))
    )
    assert decoded["data"] == [{"name": "x"}]
    assert decoded["old"] == [{}]
    assert (decoded["mysqlType"], decoded["sqlType"], decoded["pkNames"]) == (
        {"name": "varchar(20)"},
        {"name": 12},
        None,
    )


def test_undecodable_values_are_counted() -> None:
    encoder = RowEncoder(DEFINITION, NAME, "exact")
    value = encoder.encode([RowChange(None, changed(name=b"a\xff"))], FRAME)
    assert json.loads(value)["data"][0]["name"] == "a\ufffd"
    assert encoder.undecodable_values == 1


def test_keys() -> None:
    keys = KeyEncoder(DEFINITION, NAME)
    assert keys.encode(RowChange(None, ROW)) == b'["logicDb.logicTb","1"]'
    assert keys.encode(RowChange(ROW, changed(id=2))) == b'["logicDb.logicTb","2"]'
    assert keys.encode(RowChange(ROW, changed(id=ABSENT))) == b'["logicDb.logicTb","1"]'
    assert keys.encode(RowChange(ROW, None)) == b'["logicDb.logicTb","1"]'
    assert (
        KeyEncoder(DEFINITION, NAME, shard=TableId("real1", "t")).encode(RowChange(ROW, None))
        == b'["logicDb.logicTb","real1.t","1"]'
    )
    with pytest.raises(RowImageIncomplete):
        keys.encode(RowChange(None, changed(id=ABSENT)))


def test_a_table_without_a_key_has_none() -> None:
    keyless = TableDefinition(DEFINITION.map, (), DEFINITION.type_texts)
    assert KeyEncoder(keyless, NAME).encode(RowChange(None, ROW)) is None
    assert message(RowChange(None, ROW), keyless)["pkNames"] is None


def test_a_key_change_is_seen_and_split() -> None:
    change = RowChange(ROW, changed(id=2))
    assert key_changed(change, DEFINITION)
    assert not key_changed(RowChange(ROW, changed(name=b"x")), DEFINITION)
    assert not key_changed(RowChange(ROW, changed(id=ABSENT)), DEFINITION)
    assert not key_changed(RowChange(None, ROW), DEFINITION)
    assert split_update(change) == (RowChange(ROW, None), RowChange(None, changed(id=2)))


def test_partition_texts_are_canals() -> None:
    texts = PartitionTexts(DEFINITION, (2, 4, 1))
    assert texts.of(ROW) == ("1.0", "2", "é\n")
    assert texts.of(changed(price=None)) == (None, "2", "é\n")
    with pytest.raises(RowImageIncomplete, match="'kind'"):
        texts.of(changed(kind=ABSENT))


def test_headers() -> None:
    order = OrderPair(1_700_000_000_000, 42)
    own = ("order", b"1700000000000.0000000000000000042")
    tags = tag_headers(["tag1", "f1"])
    assert message_headers(order, tags) == (own, ("tag", b"tag1"), ("tag", b"f1"))
    origin = Origin(
        "shop/eu", TableId("real1", "t"), 5, BinlogPosition("bin.000001", 4), "0-1-2", 3
    )
    assert message_headers(order, (), origin) == (
        own,
        ("instance", b"shop/eu"),
        ("real", b"real1.t"),
        ("source", b"5:bin.000001:4"),
        ("gtid", b"0-1-2"),
        ("mapping", b"3"),
    )
    failed = message_headers(order, (), replace(origin, real=None, failed=True))
    assert [name for name, _ in failed] == [
        "order",
        "instance",
        "source",
        "gtid",
        "mapping",
        "failed",
    ]
    for renames, text in (((), b"[]"), ((ColumnRename("a", "b"),), b'[{"new":"b","old":"a"}]')):
        assert message_headers(order, (), replace(origin, renamed=renames))[-1] == ("renamed", text)

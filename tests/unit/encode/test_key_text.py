"""Keys of values that messages print alike."""

import struct
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.compiled import COMPILED
from relay.encode import KeyEncoder, MessageFrame, RowEncoder
from relay.encode.texts.server_numbers import float_text
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.number_form import single_text
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.row_path import SlowReason
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import Value
from relay.partition import PartitionRule
from relay.pipeline.messages.printing.event_printer import EventPrinter, make_event_printer

NAME = TableId("shop", "t")
FLOAT = Column("f", ColumnType.FLOAT, nullable=False, length=4)
TEXT = Column("v", ColumnType.VARCHAR, nullable=False, length=40, charset="utf8mb4")
FRAME = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=0)
SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False)


def definition(column: Column, type_text: str) -> TableDefinition:
    return TableDefinition(TableMap(NAME, (column,), (0,)), (0,), (type_text,))


def key(encoder: KeyEncoder, value: Value) -> object:
    encoded = encoder.encode(RowChange(None, (value,)))
    assert encoded is not None
    return orjson.loads(encoded)[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(16777218.0, "16777218"), (16777220.0, "16777220"), (0.5, "0.5"), (16777216.0, "16777216")],
)
def test_floats_that_differ_have_keys_that_differ(value: float, text: str) -> None:
    encoder = KeyEncoder(definition(FLOAT, "float"), NAME)
    assert key(encoder, value) == text
    assert not encoder.is_in_values


@given(SINGLES)
def test_a_float_in_a_key_reads_back_to_the_same_bits(value: float) -> None:
    text = single_text(value)
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)
    assert float(float_text(value)) != value or text == float_text(value)


@given(SINGLES, SINGLES)
def test_two_floats_have_one_key_only_where_they_are_equal(one: float, other: float) -> None:
    assert (single_text(one) == single_text(other)) == (
        struct.pack("<f", one) == struct.pack("<f", other)
    )


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_texts_that_differ_have_keys_that_differ_also_where_they_cannot_be_decoded(
    one: bytes, other: bytes
) -> None:
    encoder = KeyEncoder(definition(TEXT, "varchar(10)"), NAME)
    assert (key(encoder, one) == key(encoder, other)) == (one == other)


def test_bytes_that_are_no_characters_are_kept_and_counted() -> None:
    encoder = KeyEncoder(definition(TEXT, "varchar(10)"), NAME)
    assert [key(encoder, each) for each in (b"a\xff", b"a\xfe", b"a")] == [
        {"base64": "Yf8="},
        {"base64": "Yf4="},
        "a",
    ]
    assert encoder.undecodable_values == 2


def test_keys_of_before_can_be_kept() -> None:
    encoder = KeyEncoder(definition(FLOAT, "float"), NAME, as_printed=True)
    assert key(encoder, 16777218.0) == key(encoder, 16777220.0) == "16777200"
    assert encoder.is_in_values
    texts = KeyEncoder(definition(TEXT, "varchar(10)"), NAME, as_printed=True)
    assert key(texts, b"a\xff") == key(texts, b"a\xfe") == "a\ufffd"


def test_the_fast_printers_leave_such_keys_to_the_readable_path() -> None:
    table = definition(FLOAT, "float")
    partitioning = PartitionRule("shop.t", database_hash=True, partitions=3).for_table(
        NAME, ("f",), (0,)
    )
    rows = RowEncoder(table, NAME, "exact")
    assert make_event_printer(table, ("shop.t",), partitioning, rows) is SlowReason.COLUMN
    assert (
        make_event_printer(table, ("shop.t",), partitioning, rows, lossless_keys=False)
        is not SlowReason.COLUMN
    )


@pytest.mark.parametrize("charset", ["utf8mb4", "gbk", "ascii", "cp932"])
@pytest.mark.skipif(not COMPILED, reason="the compiled printer was not built")
def test_an_event_with_such_a_key_is_refused_by_the_compiled_printer(charset: str) -> None:
    table = definition(replace(TEXT, charset=charset, length=10), "varchar(10)")
    partitioning = PartitionRule("shop.t", database_hash=True, partitions=3).for_table(
        NAME, ("v",), (0,)
    )
    printer = make_event_printer(table, ("shop.t",), partitioning, RowEncoder(table, NAME, "exact"))
    assert isinstance(printer, EventPrinter)
    for value, refused in ((b"a", False), (b"a\x81", True)):
        body = b"\0" + bytes([len(value)]) + value
        event = RowsEvent(
            Operation.INSERT,
            table.map,
            [RowChange(None, (value,))],
            50,
            BinlogPosition("b.1", 4),
            1,
            body,
            0,
        )
        left = printer.messages([event], FRAME, OrderPair(1, 1), 0, ()).left
        assert (left is SlowReason.VALUE) == refused, left

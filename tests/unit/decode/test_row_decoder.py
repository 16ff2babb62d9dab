"""Row events of hand-made bytes: every type, every image, and what must be refused."""

import struct
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.decode import RowDecoder
from relay.errors import CorruptEvent, RowImageIncomplete, SchemaMismatch, UnsupportedEvent
from relay.model.change import Operation, RowChange
from relay.model.table import ColumnType
from relay.model.value import ABSENT, Value
from tests.support.examples import examples
from tests.unit.decode.event_bytes import (
    DELETE_V1,
    UPDATE_V1,
    UPDATE_V2,
    WRITE_V1,
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)

T = ColumnType
REFUSALS = (CorruptEvent, SchemaMismatch, UnsupportedEvent, RowImageIncomplete)
INT = WrittenColumn(T.LONG, unsigned=False, nullable=False, name="id")
TEXT = WrittenColumn(T.VARCHAR, b"\x64\x00", collation=255, name="note")
BLOB = WrittenColumn(T.BLOB, b"\x02", collation=63, name="photo")
ORDERS = WrittenTable((INT, TEXT, BLOB), primary_key=(0,))


def column_value(column: WrittenColumn, stored: bytes) -> Value:
    """Decode one row of one column."""
    event = RowDecoder().decode(
        raw_rows(WrittenTable((column,)).map_body(), rows_body(1, image([stored])))
    )
    (change,) = event.rows
    assert change.after is not None
    return change.after[0]


CASES: list[tuple[str, WrittenColumn, str, Value]] = [
    ("tinyint", WrittenColumn(T.TINY, unsigned=False), "80", -128),
    ("tinyint unsigned", WrittenColumn(T.TINY, unsigned=True), "ff", 255),
    ("smallint", WrittenColumn(T.SHORT, unsigned=False), "0080", -32768),
    ("smallint unsigned", WrittenColumn(T.SHORT, unsigned=True), "ffff", 65535),
    ("mediumint", WrittenColumn(T.INT24, unsigned=False), "000080", -8388608),
    ("mediumint unsigned", WrittenColumn(T.INT24, unsigned=True), "ffffff", 16777215),
    ("int", WrittenColumn(T.LONG, unsigned=False), "feffffff", -2),
    ("bigint unsigned", WrittenColumn(T.LONGLONG, unsigned=True), "ff" * 8, 18446744073709551615),
    ("float", WrittenColumn(T.FLOAT, b"\x04", unsigned=False), "0000c03f", 1.5),
    ("double", WrittenColumn(T.DOUBLE, b"\x08", unsigned=False), "000000000000f0bf", -1.0),
    (
        "decimal(10,2)",
        WrittenColumn(T.NEWDECIMAL, b"\x0a\x02", unsigned=False),
        "800000010a",
        "1.10",
    ),
    (
        "decimal(10,2) negative",
        WrittenColumn(T.NEWDECIMAL, b"\x0a\x02", unsigned=False),
        "7ffffffef5",
        "-1.10",
    ),
    ("decimal(1,1)", WrittenColumn(T.NEWDECIMAL, b"\x01\x01", unsigned=False), "89", "0.9"),
    ("year", WrittenColumn(T.YEAR, unsigned=True), "7c", 2024),
    ("year 0000", WrittenColumn(T.YEAR, unsigned=True), "00", 0),
    ("date", WrittenColumn(T.DATE), "5dd00f", "2024-02-29"),
    ("date zero", WrittenColumn(T.DATE), "000000", "0000-00-00"),
    ("date partly zero", WrittenColumn(T.NEWDATE), "00d00f", "2024-00-00"),
    ("time", WrittenColumn(T.TIME2, b"\x00"), "800001", "00:00:01"),
    ("time(2) negative", WrittenColumn(T.TIME2, b"\x02"), "7fefffe7", "-01:00:00.25"),
    ("time(6) smallest", WrittenColumn(T.TIME2, b"\x06"), "7fffffffffff", "-00:00:00.000001"),
    ("time(1)", WrittenColumn(T.TIME2, b"\x01"), "800000" + "0a", "00:00:00.1"),
    ("time 838", WrittenColumn(T.TIME2, b"\x00"), "b46efb", "838:59:59"),
    ("datetime", WrittenColumn(T.DATETIME2, b"\x00"), "99b2bac8b8", "2024-02-29 12:34:56"),
    (
        "datetime(3)",
        WrittenColumn(T.DATETIME2, b"\x03"),
        "99b2bac8b8" + "04ce",
        "2024-02-29 12:34:56.123",
    ),
    ("datetime zero", WrittenColumn(T.DATETIME2, b"\x01"), "800000000000", "0000-00-00 00:00:00.0"),
    ("timestamp", WrittenColumn(T.TIMESTAMP2, b"\x00"), "00000001", "1970-01-01 00:00:01"),
    (
        "timestamp(6)",
        WrittenColumn(T.TIMESTAMP2, b"\x06"),
        "7fffffff0f423f",
        "2038-01-19 03:14:07.999999",
    ),
    (
        "timestamp(3) zero",
        WrittenColumn(T.TIMESTAMP2, b"\x03"),
        "000000000000",
        "0000-00-00 00:00:00.000",
    ),
    ("time before 5.6", WrittenColumn(T.TIME), "c01dfe", "-12:34:56"),
    ("datetime before 5.6", WrittenColumn(T.DATETIME), "457c178468120000", "2024-01-02 03:04:05"),
    ("timestamp before 5.6", WrittenColumn(T.TIMESTAMP), "257d9365", "2024-01-02 03:04:05"),
    ("timestamp before 5.6, zero", WrittenColumn(T.TIMESTAMP), "00000000", "0000-00-00 00:00:00"),
    ("char", WrittenColumn(T.STRING, b"\xfe\x28", collation=255), "03616263", b"abc"),
    (
        "char of 1020 bytes",
        WrittenColumn(T.STRING, b"\xce\xfc", collation=255),
        "0300616263",
        b"abc",
    ),
    ("binary", WrittenColumn(T.STRING, b"\xfe\x08", collation=63), "020102", b"\x01\x02"),
    ("varchar of 255 bytes", WrittenColumn(T.VARCHAR, b"\xff\x00", collation=8), "0161", b"a"),
    ("varchar of 256 bytes", WrittenColumn(T.VARCHAR, b"\x00\x01", collation=8), "010061", b"a"),
    ("tinyblob", WrittenColumn(T.BLOB, b"\x01", collation=63), "01ff", b"\xff"),
    ("mediumblob", WrittenColumn(T.BLOB, b"\x03", collation=63), "010000ff", b"\xff"),
    ("longtext", WrittenColumn(T.BLOB, b"\x04", collation=45), "0100000061", b"a"),
    ("enum", WrittenColumn(T.STRING, b"\xf7\x01", labels=("a", "b")), "02", 2),
    ("enum error value", WrittenColumn(T.STRING, b"\xf7\x01", labels=("a", "b")), "00", 0),
    (
        "enum of two bytes",
        WrittenColumn(T.STRING, b"\xf7\x02", labels=[f"v{i}" for i in range(300)]),
        "2c01",
        300,
    ),
    ("set", WrittenColumn(T.STRING, b"\xf8\x01", labels=("a", "b")), "03", 3),
    (
        "set of 64",
        WrittenColumn(T.STRING, b"\xf8\x08", labels=[f"s{i}" for i in range(64)]),
        "ff" * 8,
        2**64 - 1,
    ),
    ("bit(9)", WrittenColumn(T.BIT, b"\x01\x01"), "01ff", 511),
    ("bit(64)", WrittenColumn(T.BIT, b"\x00\x08"), "8000000000000001", 0x8000000000000001),
    ("geometry", WrittenColumn(T.GEOMETRY, b"\x04"), "0200000001ff", b"\x01\xff"),
    ("vector", WrittenColumn(T.VECTOR, b"\x04"), "040000000000803f", struct.pack("<f", 1.0)),
    (
        "compressed, stored",
        WrittenColumn(T.VARCHAR_COMPRESSED, b"\x65\x00", collation=8),
        "03006162",
        b"ab",
    ),
    ("compressed, empty", WrittenColumn(T.BLOB_COMPRESSED, b"\x01", collation=8), "00", b""),
]


@pytest.mark.parametrize(
    ("column", "stored", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_each_type_becomes_its_value(column: WrittenColumn, stored: str, expected: Value) -> None:
    value = column_value(column, bytes.fromhex(stored))
    assert value == expected
    assert type(value) is type(expected)


def test_negative_zero_keeps_its_sign() -> None:
    assert (
        str(column_value(WrittenColumn(T.DOUBLE, b"\x08", unsigned=False), struct.pack("<d", -0.0)))
        == "-0.0"
    )


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        (WrittenColumn(T.DATETIME2, b"\x00"), "ffffffffff"),
        (WrittenColumn(T.DATETIME2, b"\x00"), "0000000000"),
        (WrittenColumn(T.TIME2, b"\x00"), "ffffff"),
        (WrittenColumn(T.TIME2, b"\x02"), "800001ff"),
        (WrittenColumn(T.DATE), "ffffff"),
        (WrittenColumn(T.NEWDECIMAL, b"\x0a\x02", unsigned=False), "80000001ff"),
        (WrittenColumn(T.STRING, b"\xf7\x01", labels=("a", "b")), "03"),
        (WrittenColumn(T.STRING, b"\xf8\x01", labels=("a", "b")), "04"),
        (WrittenColumn(T.BIT, b"\x01\x01"), "02ff"),
        (WrittenColumn(T.BLOB_COMPRESSED, b"\x01", collation=8), "0381ff00"),
        (WrittenColumn(T.BLOB_COMPRESSED, b"\x01", collation=8), "0121"),
        (WrittenColumn(T.JSON, b"\x04"), "01000000ff"),
    ],
)
def test_impossible_values_are_refused_with_their_column(
    column: WrittenColumn, stored: str
) -> None:
    with pytest.raises(CorruptEvent, match=r"shop\.orders.*row 1, column c"):
        column_value(column, bytes.fromhex(stored))


@pytest.mark.parametrize("kind", [T.DECIMAL, T.NULL])
def test_types_that_no_row_holds_are_refused(kind: ColumnType) -> None:
    with pytest.raises(CorruptEvent):
        column_value(WrittenColumn(kind), b"\0")


def test_an_update_holds_both_images_and_nulls() -> None:
    before, after = image([b"\1\0\0\0", b"\1a", None]), image([b"\2\0\0\0", None, b"\1\0x"])
    for kind in (UPDATE_V1, UPDATE_V2):
        event = RowDecoder().decode(
            raw_rows(ORDERS.map_body(), rows_body(3, before, after, before, after, kind=kind), kind)
        )
        assert event.operation is Operation.UPDATE
        assert event.rows == [RowChange((1, b"a", None), (2, None, b"x"))] * 2


def test_a_delete_holds_the_row_that_went() -> None:
    event = RowDecoder().decode(
        raw_rows(
            ORDERS.map_body(),
            rows_body(3, image([b"\1\0\0\0", None, None]), kind=DELETE_V1),
            DELETE_V1,
        )
    )
    assert (event.operation, event.rows) == (Operation.DELETE, [RowChange((1, None, None), None)])


def test_columns_outside_the_image_are_absent_not_null() -> None:
    body = rows_body(3, image([b"\1\0\0\0"]), image([None]), kind=UPDATE_V2, present=[b"\1", b"\2"])
    event = RowDecoder().decode(raw_rows(ORDERS.map_body(), body, UPDATE_V2))
    assert event.rows == [RowChange((1, ABSENT, ABSENT), (ABSENT, None, ABSENT))]


def test_extra_data_of_v2_events_is_stepped_over() -> None:
    body = rows_body(3, image([b"\1\0\0\0", None, None]), extra=b"\x01\x03\x00")
    assert RowDecoder().decode(raw_rows(ORDERS.map_body(), body)).rows == [
        RowChange(None, (1, None, None))
    ]


def test_an_image_without_any_column_is_refused() -> None:
    with pytest.raises(RowImageIncomplete):
        RowDecoder().decode(raw_rows(ORDERS.map_body(), rows_body(3, present=[b"\0"])))


def test_a_null_in_a_not_null_column_is_refused() -> None:
    table = WrittenTable((WrittenColumn(T.LONG, unsigned=False, nullable=False),))
    with pytest.raises(CorruptEvent, match="NOT NULL"):
        RowDecoder().decode(raw_rows(table.map_body(), rows_body(1, image([None]))))


def test_another_column_count_is_a_schema_mismatch() -> None:
    with pytest.raises(SchemaMismatch, match="has 2 columns"):
        RowDecoder().decode(raw_rows(ORDERS.map_body(), rows_body(2, image([b"\1\0\0\0", None]))))


@pytest.mark.parametrize("garbage", [b"\0", b"\xff", b"\xfe", b"\0" * 5])
def test_trailing_bytes_are_refused(garbage: bytes) -> None:
    body = rows_body(3, image([b"\1\0\0\0", None, None])) + garbage
    with pytest.raises(CorruptEvent):
        RowDecoder().decode(raw_rows(ORDERS.map_body(), body))


@pytest.mark.parametrize("code", [0, 20, 40, 166])
def test_other_event_types_are_refused(code: int) -> None:
    with pytest.raises(UnsupportedEvent):
        RowDecoder().decode(raw_rows(ORDERS.map_body(), rows_body(3), code))


def test_every_cut_of_an_event_is_refused_or_ends_at_a_row() -> None:
    row = image([b"\1\0\0\0", b"\3abc", b"\2\0xy"])
    body = rows_body(3, row, row, kind=WRITE_V1)
    head = len(body) - 2 * len(row)
    for size in range(len(body)):
        raw = raw_rows(ORDERS.map_body(), body[:size], WRITE_V1)
        if size - head in (0, len(row)):
            assert len(RowDecoder().decode(raw).rows) == (size - head) // len(row)
        else:
            with pytest.raises(CorruptEvent, match=r"shop\.orders"):
                RowDecoder().decode(raw)


def test_every_cut_of_a_table_map_is_refused_or_loses_whole_fields_only() -> None:
    table_map = ORDERS.map_body()
    body = rows_body(3, image([b"\1\0\0\0", None, None]))
    for size in range(len(table_map)):
        try:
            event = RowDecoder().decode(raw_rows(table_map[:size], body))
        except CorruptEvent:
            continue
        assert event.table.primary_key == ()


EVERY_TYPE = WrittenTable(
    tuple(
        WrittenColumn(
            c.type, c.metadata, f"c{i}", unsigned=c.unsigned, collation=c.collation, labels=c.labels
        )
        for i, (_, c, _, _) in enumerate(CASES)
    )
)


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=400), st.sampled_from([23, 24, 25, 30, 31, 32]), st.booleans())
def test_random_rows_raise_nothing_but_refusals(garbage: bytes, kind: int, mariadb: bool) -> None:
    width = len(EVERY_TYPE.columns)
    raw = raw_rows(
        EVERY_TYPE.map_body(), rows_body(width, garbage, kind=kind), kind, mariadb=mariadb
    )
    try:
        event = RowDecoder().decode(raw)
    except REFUSALS:
        return
    assert all(
        len(row) == width
        for change in event.rows
        for row in (change.before, change.after)
        if row is not None
    )


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_damaged_table_maps_raise_nothing_but_refusals(data: st.DataObject) -> None:
    table_map = bytearray(EVERY_TYPE.map_body())
    for _ in range(data.draw(st.integers(1, 4))):
        table_map[data.draw(st.integers(0, len(table_map) - 1))] = data.draw(st.integers(0, 255))
    values = [bytes.fromhex(stored) for _, _, stored, _ in CASES]
    try:
        RowDecoder().decode(raw_rows(bytes(table_map), rows_body(len(values), image(values))))
    except REFUSALS:
        return


@given(st.binary(max_size=200))
def test_random_table_maps_raise_nothing_but_refusals(garbage: bytes) -> None:
    with pytest.raises(REFUSALS):
        RowDecoder().decode(raw_rows(garbage, rows_body(1)))


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_come_back(number: int) -> None:
    assert (
        column_value(
            WrittenColumn(T.LONGLONG, unsigned=False), number.to_bytes(8, "little", signed=True)
        )
        == number
    )


def written_decimal(number: Decimal, precision: int, scale: int) -> bytes:
    """Write a DECIMAL as the manual says: nine digits to four bytes, the rest to fewer."""
    digits = f"{abs(int(number.scaleb(scale))):0{precision}d}"
    whole = precision - scale
    pieces = [digits[: whole % 9]] if whole % 9 else []
    pieces += [digits[i : i + 9] for i in range(whole % 9, whole, 9)]
    pieces += [digits[i : min(i + 9, precision)] for i in range(whole, precision, 9)]
    raw = bytearray(
        b"".join(int(p).to_bytes((0, 1, 1, 2, 2, 3, 3, 4, 4, 4)[len(p)], "big") for p in pieces)
    )
    raw[0] ^= 0x80
    return bytes(raw) if number >= 0 else bytes(byte ^ 0xFF for byte in raw)


@given(st.data())
def test_decimals_come_back_with_their_scale(data: st.DataObject) -> None:
    precision = data.draw(st.integers(1, 28))
    scale = data.draw(st.integers(0, precision))
    number = Decimal(data.draw(st.integers(-(10**precision) + 1, 10**precision - 1))).scaleb(-scale)
    column = WrittenColumn(T.NEWDECIMAL, bytes((precision, scale)), unsigned=False)
    assert column_value(column, written_decimal(number, precision, scale)) == f"{number:.{scale}f}"


@given(st.integers(-3_020_399_000_000, 3_020_399_000_000))
def test_times_come_back(microseconds: int) -> None:
    seconds, fraction = divmod(abs(microseconds), 1_000_000)
    hour, minute, second = seconds // 3600, seconds // 60 % 60, seconds % 60
    packed = (hour << 12 | minute << 6 | second) << 24 | fraction
    stored = ((1 << 47) + (packed if microseconds >= 0 else -packed)).to_bytes(6, "big")
    sign = "-" if microseconds < 0 else ""
    assert (
        column_value(WrittenColumn(T.TIME2, b"\x06"), stored)
        == f"{sign}{hour:02d}:{minute:02d}:{second:02d}.{fraction:06d}"
    )


def test_a_table_opened_anew_is_the_same_table_and_an_altered_one_is_not() -> None:
    decoder = RowDecoder(tables_cached=1)
    body = rows_body(3, image([b"\1\0\0\0", None, None]))
    first = decoder.decode(raw_rows(ORDERS.map_body(), body)).table
    again = decoder.decode(raw_rows(b"\x09" + ORDERS.map_body()[1:], body)).table
    altered = WrittenTable((TEXT, INT, BLOB))
    other = decoder.decode(
        raw_rows(altered.map_body(), rows_body(3, image([None, b"\1\0\0\0", None])))
    ).table
    assert again is first
    assert other != first

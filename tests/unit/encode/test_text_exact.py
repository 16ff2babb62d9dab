"""The exact style prints what the server prints."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.charsets import decoder, lenient_decoder
from relay.encode.texts.json_text import server_json
from relay.encode.texts.server_numbers import double_text, float_text
from relay.encode.texts.text_exact import exact_text
from relay.errors import SchemaMismatch, ValueNotPrintable
from relay.model.number_form import server_form
from relay.model.table import Column, ColumnType
from relay.model.value import JsonDocument, JsonNode, JsonScalar, JsonScalarKind
from tests.unit.encode.canal_tables import GOLDEN, SERVERS
from tests.unit.encode.server_tables import server_cells

DECIMAL = JsonScalarKind.DECIMAL


def never() -> None:
    pytest.fail("a value of the server was not decoded")


@pytest.mark.parametrize("server", SERVERS)
def test_every_value_of_the_server_prints_as_the_server_prints_it(server: str) -> None:
    seen: Counter[ColumnType] = Counter()
    for cell in server_cells(server):
        assert exact_text(cell.column, cell.type_text, never)(cell.value) == cell.text, cell.place
        seen[cell.column.type] += 1
    assert sum(seen.values()) > 5_000
    assert len(seen) >= 18


def test_every_character_of_every_set_is_the_servers() -> None:
    sets = json.loads((GOLDEN / "charsets.mariadb.json").read_text(encoding="utf-8"))
    for charset, leads in sets.items():
        decode = decoder(charset)
        assert decode is not None, charset
        for lead, (trails, characters) in leads.items():
            codes = [bytes.fromhex(lead + trails[i : i + 2]) for i in range(0, len(trails), 2)]
            assert [decode(code) for code in codes] == list(characters), (charset, lead)
    assert len(sets) >= 30


@pytest.mark.parametrize(
    "charset", ["utf8mb4", "ascii", "gbk", "sjis", "big5", "eucjpms", "greek", "utf16", "utf32"]
)
def test_bytes_that_are_no_characters_are_marked_and_counted(charset: str) -> None:
    called = []
    column = Column("c", ColumnType.VARCHAR, nullable=True, length=10, charset=charset)
    text = exact_text(column, "", lambda: called.append(1))
    assert "\ufffd" in text(b"\xff\xff\xff")
    assert called == [1]


def test_all_256_bytes_of_latin1_are_characters() -> None:
    decode = decoder("latin1")
    assert decode is not None
    text = decode(bytes(range(256)))
    assert len(set(text)) == 256
    assert (text[0x80], text[0x81], text[0xE9]) == ("€", "\x81", "é")


def test_an_unknown_set_is_refused() -> None:
    assert decoder("klingon") is None
    assert lenient_decoder("klingon") is None
    with pytest.raises(SchemaMismatch, match="klingon"):
        exact_text(Column("c", ColumnType.VARCHAR, nullable=True, charset="klingon"), "", never)


def test_labels_must_be_known_and_numbers_within_them() -> None:
    with pytest.raises(SchemaMismatch):
        exact_text(Column("e", ColumnType.ENUM, nullable=True), "", never)
    enum = exact_text(Column("e", ColumnType.ENUM, nullable=True, labels=("a", "b")), "", never)
    assert [enum(0), enum(2)] == ["", "b"]
    with pytest.raises(ValueNotPrintable):
        enum(3)
    mask = exact_text(Column("s", ColumnType.SET, nullable=True, labels=("a", "b")), "", never)
    assert [mask(0), mask(3)] == ["", "a,b"]
    with pytest.raises(ValueNotPrintable):
        mask(4)


def test_binary_keeps_its_length() -> None:
    assert (
        exact_text(
            Column("b", ColumnType.STRING, nullable=True, length=4, charset="binary"), "", never
        )(b"\xff")
        == "/wAAAA=="
    )


@pytest.mark.parametrize(
    ("number", "double", "float_"),
    [
        (0.0, "0", "0"),
        (-0.0, "-0", "-0"),
        (1e14, "100000000000000", "100000000000000"),
        (1e15, "1e15", "1e15"),
        (1e-15, "0.000000000000001", "0.000000000000001"),
        (1e-16, "1e-16", "1e-16"),
        (123456789012345678.0, "1.2345678901234568e17", "1.23457e17"),
        (999999999999999.0, "999999999999999", "1e15"),
        (3525603062200429.5, "3525603062200429.5", "3.5256e15"),
        (-1.5e300, "-1.5e300", "-1.5e300"),
        (16777217.0, "16777217", "16777200"),
    ],
)
def test_floating_point_numbers(number: float, double: str, float_: str) -> None:
    assert double_text(number) == double
    assert float_text(number) == float_


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_has_the_servers_form(number: float) -> None:
    assert double_text(number) == server_form(repr(number))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_can_be_read_back(number: float) -> None:
    assert repr(float(double_text(number))) == repr(number)


@pytest.mark.parametrize(
    ("root", "text"),
    [
        ({"a": 1, "bc": [True, None, "x"]}, '{"a": 1, "bc": [true, null, "x"]}'),
        ([1.0, 1e100, 0.1], "[1.0, 1e100, 0.1]"),
        ('"\\\b\f\n\r\t\x01\x7f/é', '"\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7f/é"'),
        (JsonScalar(DECIMAL, "1.10"), "1.10"),
        (JsonScalar(JsonScalarKind.UNSIGNED, "18446744073709551615"), "18446744073709551615"),
        (JsonScalar(JsonScalarKind.DATE, "2024-01-02"), '"2024-01-02"'),
        (
            JsonScalar(JsonScalarKind.OPAQUE, "base64:type15:AQI=", b"\x01\x02", 15),
            '"base64:type15:AQI="',
        ),
        ({}, "{}"),
        ([], "[]"),
    ],
)
def test_json(root: JsonNode, text: str) -> None:
    assert server_json(JsonDocument(root)) == text

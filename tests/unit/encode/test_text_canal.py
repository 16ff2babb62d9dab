"""Canal's style prints what Java prints."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.encode.texts.java_numbers import java_double, java_float
from relay.encode.texts.java_utf8 import java_utf8
from relay.encode.texts.json_text import canal_json
from relay.encode.texts.text_canal import canal_text
from relay.encode.trailing_group import canal_decimal
from relay.model.table import Column, ColumnType
from relay.model.value import JsonDocument, JsonNode, JsonScalar, JsonScalarKind, Value
from tests.unit.encode.canal_tables import GOLDEN


def java_answers() -> list[dict[str, str]]:
    with (GOLDEN / "java_texts.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def printed(kind: str, raw: bytes) -> str:
    match kind:
        case "double":
            return java_double(struct.unpack(">d", raw)[0])
        case "float":
            return java_float(struct.unpack(">f", raw)[0])
    return java_utf8(raw)


def test_numbers_and_broken_utf8_print_as_jdk_17_prints_them() -> None:
    answers = java_answers()
    assert len(answers) == 4_500
    for answer in answers:
        assert printed(answer["kind"], bytes.fromhex(answer["hex"])) == answer["text"], answer


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_java_double_can_be_read_back(number: float) -> None:
    assert repr(float(java_double(number))) == repr(number)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_java_float_can_be_read_back(number: float) -> None:
    assert struct.pack("f", float(java_float(number))) == struct.pack("f", number)


@given(st.text())
def test_sound_utf8_is_left_alone(text: str) -> None:
    assert java_utf8(text.encode()) == text


@pytest.mark.parametrize(
    ("scale", "number", "text"),
    [
        (2, "1.00", "1.0"),
        (2, "-1.50", "-1.50"),
        (10, "3.1000000000", "3.100000000"),
        (9, "0.000000000", "0.000000000"),
        (30, "0." + "0" * 30, "0." + "0" * 27),
        (0, "100", "100"),
    ],
)
def test_decimals_lose_a_last_group_of_zeros(scale: int, number: str, text: str) -> None:
    assert canal_decimal(scale)(number) == text


@pytest.mark.parametrize(
    ("column", "type_text", "value", "text"),
    [
        (
            Column("c", ColumnType.STRING, nullable=True, length=8, charset="binary"),
            "BINARY(8)",
            b"\xffab\0\0",
            "ÿab",
        ),
        (
            Column("c", ColumnType.STRING, nullable=True, length=16, charset="binary"),
            "UUID",
            b"\xffab\0",
            "\ufffdab",
        ),
        (
            Column("c", ColumnType.VARCHAR, nullable=True, charset="binary"),
            "VARCHAR(9)",
            b"\xff\0",
            "\ufffd\0",
        ),
        (
            Column("c", ColumnType.VARCHAR, nullable=True, charset="binary"),
            "varbinary(9)",
            b"\xff\0",
            "ÿ\0",
        ),
        (
            Column("c", ColumnType.VARCHAR, nullable=True, charset="latin1"),
            "VARCHAR(9)",
            b"caf\xe9",
            "caf\ufffd",
        ),
        (
            Column("c", ColumnType.BLOB, nullable=True, charset="utf8mb4"),
            "JSON",
            "é".encode(),
            "Ã©",
        ),
        (
            Column("c", ColumnType.BLOB, nullable=True, charset="utf8mb4"),
            "LONGTEXT",
            "é".encode(),
            "é",
        ),
        (Column("c", ColumnType.YEAR, nullable=True), "YEAR", 0, "0000"),
        (Column("c", ColumnType.ENUM, nullable=True, labels=("a",)), "ENUM('a')", 1, "1"),
    ],
)
def test_strings_follow_the_type_text(
    column: Column, type_text: str, value: Value, text: str
) -> None:
    assert canal_text(column, type_text)(value) == text


@pytest.mark.parametrize(
    ("root", "text"),
    [
        ({"a": [1.0, 1e100, 1e-7]}, '{"a": [1.0, 1.0E100, 1.0E-7]}'),
        ("\b\f\n\x1f\x7f\xa0é", '"\\u0008\\u000c\\n\\u001f\\u007f\\u00a0é"'),
        (JsonScalar(JsonScalarKind.DATE, "2024-01-02"), '"2024-01-02 00:00:00.000000"'),
        (JsonScalar(JsonScalarKind.DATE, "0000-00-00"), '"0000-00-00 00:00:00"'),
        (JsonScalar(JsonScalarKind.TIME, "100:00:00.000000"), '"00:00:00.000000"'),
        (JsonScalar(JsonScalarKind.TIME, "-101:00:00.250000"), '"-101:00:00.250000"'),
        (JsonScalar(JsonScalarKind.TIME, "00:00:00.000000"), '"00:00:00"'),
        (JsonScalar(JsonScalarKind.DECIMAL, "1.00"), "1.0"),
        (
            JsonScalar(JsonScalarKind.OPAQUE, "base64:type15:/wE=", b"\xff\x01", 15),
            '"\ufffd\\u0001"',
        ),
    ],
)
def test_json(root: JsonNode, text: str) -> None:
    assert canal_json(JsonDocument(root)) == text

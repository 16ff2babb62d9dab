"""Texts of the exact style as Python values, by the type's text."""

import copy
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roma_client.records.values import Columns, python_value


@pytest.mark.parametrize(
    ("type_text", "text", "value"),
    [
        ("bigint(20) unsigned", "18446744073709551615", 2**64 - 1),
        ("int(5) unsigned zerofill", "00042", 42),
        ("bit(9)", "511", 511),
        ("year", "0000", 0),
        ("DECIMAL(6,2)", "1.50", Decimal("1.50")),
        ("double", "-1.7976931348623157e308", -1.7976931348623157e308),
        ("datetime(1)", "2024-02-29 12:34:56.1", datetime(2024, 2, 29, 12, 34, 56, 100_000)),  # noqa: DTZ001
        ("timestamp", "2024-02-29 12:34:56", datetime(2024, 2, 29, 12, 34, 56, tzinfo=UTC)),
        ("timestamp", "0000-00-00 00:00:00", "0000-00-00 00:00:00"),
        ("date", "9999-12-31", date(9999, 12, 31)),
        ("date", "2024-00-00", "2024-00-00"),
        ("time", "-838:59:59", -timedelta(hours=838, minutes=59, seconds=59)),
        ("time(6)", "-00:00:00.000001", -timedelta(microseconds=1)),
        ("set('a','b')", "a,b", frozenset({"a", "b"})),
        ("set('a','b')", "", frozenset()),
        ("enum('draft','sold')", "sold", "sold"),
        ("json", '{"a": [1]}', {"a": [1]}),
        ("varbinary(3)", "AP8=", b"\x00\xff"),
        ("char(3)", "007", "007"),
        ("inet6", "::1", "::1"),
        ("int", None, None),
    ],
)
def test_each_type_has_its_python_value(type_text: str, text: str | None, value: Any) -> None:
    found = python_value(type_text, text)
    assert (found, type(found)) == (value, type(value))


def test_a_text_that_the_type_cannot_have_is_an_error() -> None:
    for type_text, text in [("int", "x"), ("time", "1h"), ("decimal(1,0)", "x"), ("json", "{")]:
        with pytest.raises(ValueError, match=r".+"):
            python_value(type_text, text)


TYPES = ("bigint(20)", "decimal(6,2)", "double", "date", "datetime(3)", "timestamp", "time", "json")
TEXTS = ("7", "1.50", "2024-02-29", "2024-02-29 12:34:56.1", "0000-00-00 00:00:00", "x", None)
LATE = "2024-02-29 12:34:56+01:00"


def outcome(made: Callable[[], Any]) -> Any:
    """The value and its type, or the type of the error."""
    try:
        found = made()
    except (ValueError, KeyError) as exc:
        return type(exc)
    return {name: (each, type(each)) for name, each in found.items()}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from((*TYPES, "char(3)", "set('7')"))),
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from((*TEXTS, LATE))),
)
def test_a_row_has_the_values_of_its_columns_also_partial_and_broken_ones(
    types: dict[str, str], texts: dict[str, str | None]
) -> None:
    columns = Columns(types)
    one_by_one = outcome(lambda: {n: python_value(types[n], each) for n, each in texts.items()})
    assert outcome(lambda: columns.values(texts)) == one_by_one
    assert outcome(lambda: copy.copy(columns).values(texts)) == one_by_one


@given(st.timedeltas(timedelta(hours=-838), timedelta(hours=838)), st.integers(0, 6))
def test_every_time_is_read_back(length: timedelta, digits: int) -> None:
    step = timedelta(microseconds=10 ** (6 - digits))
    length = length // step * step
    total = abs(length) // timedelta(microseconds=1)
    seconds, micros = divmod(total, 1_000_000)
    text = f"{'-' if length < timedelta(0) else ''}{seconds // 3600:02d}"
    text += f":{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    text += f".{micros:06d}"[: digits + 1] if digits else ""
    assert python_value("time(6)", text) == length

"""A function of the installation's own makes nothing, one change or several of each, and its errors
are those of the row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import pytest

from relay.errors import ConfigurationError, LookupUnreachable, RuleRefused, TransformFailed
from relay.model.change import RowChange
from relay.model.value import ABSENT, JsonDocument
from relay.refine import Change, Image, Lookup, Plain
from relay.refine.table_refinement import FIELDS, TRANSFORM
from tests.support.conditions import NAMES, row
from tests.unit.refine.tables import published, refinement

Function = Callable[[Change, Mapping[str, Lookup]], Iterable[Change]]
FULL = {
    "email": b"a@b",
    "name": "M\u00fcller".encode("latin-1"),
    "price": "1.50",
    "ratio": 0.5,
    "made": "2026-01-31 00:00:00.000",
    "lasts": "01:00:00",
    "state": 2,
    "raw": b"\xff",
    "flags": 3,
    "doc": JsonDocument({"a": [1, None]}),
}


@pytest.fixture
def refined(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make the refinement of the table by a function, as if a package had it as its entry point."""

    def make(
        function: Function,
        lookups: dict[str, Lookup] | None = None,
        rules: Any = (),
        **settings: Any,
    ) -> Any:
        monkeypatch.setattr("relay.refine.transform.transform_function", lambda _: function)
        transform = {
            "table": "shop.customer",
            "function": "f",
            "lookups": [*(lookups or {})],
            **settings,
        }
        return refinement(lookups, transforms=[transform], rules=rules)

    return make


def same(change: Change, _: Mapping[str, Lookup]) -> list[Change]:
    return [change]


def test_rows_are_given_as_plain_values(refined: Callable[..., Any]) -> None:
    seen: list[Change] = []

    def look(change: Change, _: Mapping[str, Lookup]) -> list[Change]:
        seen.append(change)
        return []

    refined(look).changes(RowChange(row(**FULL), None))
    (change,) = seen
    assert (change.table, change.operation, change.after) == ("shop.customer", "DELETE", None)
    assert change.row == {
        "id": 1,
        "email": "a@b",
        "name": "Müller",
        "price": Decimal("1.50"),
        "ratio": 0.5,
        "made": "2026-01-31 00:00:00.000",
        "lasts": "01:00:00",
        "state": "sold",
        "raw": b"\xff",
        "flags": "a,b",
        "doc": '{"a": [1, null]}',
    }


@pytest.mark.parametrize(
    "change", [RowChange(None, row(**FULL)), RowChange(row(**FULL), row()), RowChange(row(), None)]
)
def test_what_comes_back_as_it_was_is_what_was_read(
    refined: Callable[..., Any], change: RowChange
) -> None:
    assert refined(same).changes(change) == [change]


def test_columns_that_an_image_lacks_stay_away(refined: Callable[..., Any]) -> None:
    change = RowChange(None, (1, *[ABSENT] * (len(NAMES) - 1)))
    assert refined(same).changes(change) == [change]


def test_new_values_take_the_form_of_their_column(refined: Callable[..., Any]) -> None:
    new: Image = {
        "id": 2,
        "email": "ü",
        "name": "x",
        "price": Decimal("7"),
        "ratio": 2,
        "made": "2027-01-01 00:00:00",
        "lasts": "-00:00:01",
        "state": "draft",
        "raw": b"",
        "flags": "b",
        "doc": '{"b": 1.5}',
    }
    (made,) = refined(lambda change, _: [change.having(**new)]).changes(
        RowChange(None, row(**FULL))
    )
    expected = (
        2,
        "ü".encode(),
        b"x",
        "7.00",
        2.0,
        "2027-01-01 00:00:00",
        "-00:00:01",
        1,
        b"",
        2,
        JsonDocument({"b": 1.5}),
    )
    assert made == RowChange(None, expected)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"id": "2"}, "str where int is needed"),
        ({"id": True}, "bool where int is needed"),
        ({"price": Decimal("1.005")}, "a DECIMAL of 2 decimals cannot hold this number"),
        ({"price": Decimal("NaN")}, "a DECIMAL of 2 decimals cannot hold this number"),
        ({"price": 1.5}, "float where int or Decimal is needed"),
        ({"name": "Ж"}, "a column in latin1 cannot take this text"),
        ({"made": "tomorrow"}, "a date or time must look like"),
        ({"made": "2027-13-01 00:00:00"}, "a date or time must look like"),
        ({"made": "2027-01-01 00:00:00.0001"}, "the column has 3 digits of a second"),
        ({"lasts": "839:00:00"}, "a date or time must look like"),
        ({"id": 2**31}, "LONG cannot hold the number 2147483648"),
        ({"id": -(2**31) - 1}, "LONG cannot hold"),
        ({"price": Decimal("123456789.5")}, "a DECIMAL of 8 digits before the point"),
        ({"ratio": float("nan")}, "DOUBLE cannot hold the number nan"),
        ({"ratio": float("-inf")}, "DOUBLE cannot hold"),
        ({"ratio": 10**400}, "OverflowError"),
        ({"email": "x" * 401}, "the column can hold 400 bytes"),
        ({"raw": b"12345678901"}, "the column can hold 10 bytes"),
        ({"state": "lost"}, "none of the labels"),
        ({"doc": "{"}, "JSONDecodeError"),
        ({"doc": "[NaN]"}, "JSON cannot hold the number NaN"),
        ({"doc": "[1e400]"}, "JSON cannot hold the number 1e400"),
        ({"doc": r'"\ud800"'}, "UnicodeEncodeError"),
        ({"colour": "red"}, "the table has no column 'colour', and `adds` does not name it"),
    ],
)
def test_what_the_table_cannot_hold_is_a_failure(
    refined: Callable[..., Any], values: dict[str, Plain], words: str
) -> None:
    with pytest.raises(TransformFailed) as failed:
        refined(lambda change, _: [change.having(**values)]).changes(RowChange(None, row(**FULL)))
    assert words in failed.value.reason


def test_nothing_one_or_many(refined: Callable[..., Any]) -> None:
    def lines(change: Change, _: Mapping[str, Lookup]) -> Iterator[Change]:
        for number in range(int(str(change.row["id"]))):
            yield change.having(line=number)

    table = refined(lines, adds={"line": "bigint"}, key=["id", "line"])
    assert table.changes(RowChange(None, row(id=0))) is TRANSFORM
    made = published(table, RowChange(None, row(id=3)))
    assert [after and after["line"] for _, after in made] == [0, 1, 2]
    assert table.published.key == (0, len(NAMES))
    assert table.published.map.primary_key == (0, len(NAMES))
    assert table.published.type_texts[-1] == "bigint"
    assert table.pairs == 16


def test_more_changes_than_a_row_may_become(refined: Callable[..., Any]) -> None:
    with pytest.raises(TransformFailed, match="made 3 changes of one row, and most_changes is 2"):
        refined(lambda change, _: [change] * 3, most_changes=2).changes(RowChange(None, row()))


def test_an_error_of_the_function_names_it(refined: Callable[..., Any]) -> None:
    def broken(change: Change, _: Mapping[str, Lookup]) -> list[Change]:
        return [change.having(id=1 // 0)]

    with pytest.raises(
        TransformFailed,
        match=r"The transform f failed on a row of shop_1\.customer with ZeroDivisionError",
    ):
        refined(broken).changes(RowChange(None, row()))


def test_errors_repeat_no_value_where_some_are_hidden(refined: Callable[..., Any]) -> None:
    def broken(change: Change, _: Mapping[str, Lookup]) -> list[Change]:
        raise ValueError(f"a secret: {change.row['email']!r}")

    table = refined(broken, rules=[{"tables": ".*", "without_fields": ["email"]}])
    with pytest.raises(TransformFailed) as failed:
        table.changes(RowChange(None, row(email=b"a@b")))
    assert "secret" not in failed.value.reason


def test_lookups_answer_by_name(refined: Callable[..., Any]) -> None:
    def joined(change: Change, lookups: Mapping[str, Lookup]) -> list[Change]:
        city = lookups["city"](change.row["id"])
        return [change.having(city=None if city is None else city["name"])]

    table = refined(
        joined,
        {"city": lambda number: {"name": f"city {number}"} if number == 1 else None},
        adds={"city": "varchar(20)"},
    )
    assert [published(table, RowChange(None, row(id=number)))[0][1] for number in (1, 2)] == [
        {**dict(zip(NAMES, row(id=1), strict=True)), "city": b"city 1"},
        {**dict(zip(NAMES, row(id=2), strict=True)), "city": None},
    ]


@pytest.mark.parametrize("catches", [False, True])
def test_a_server_that_does_not_answer_is_no_fault_of_the_row(
    refined: Callable[..., Any], *, catches: bool
) -> None:
    def away(*_: Plain) -> Image | None:
        raise LookupUnreachable("away")

    def joined(change: Change, lookups: Mapping[str, Lookup]) -> list[Change]:
        try:
            lookups["city"](1)
        except LookupUnreachable:
            if not catches:
                raise
        return [change]

    with pytest.raises(LookupUnreachable):
        refined(joined, {"city": away}).changes(RowChange(None, row()))


def test_fields_are_those_behind_the_transform(refined: Callable[..., Any]) -> None:
    rules = [{"tables": ".*", "fields": ["line"]}]
    table = refined(lambda change, _: [change.having(line=1)], adds={"line": "bigint"}, rules=rules)
    assert [column.name for column in table.published.map.columns] == ["id", "line"]
    assert table.changes(RowChange(row(email=b"a"), row(email=b"b"))) is FIELDS


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"adds": {"x": "blob"}}, ConfigurationError, "cannot add x as 'blob'"),
        ({"adds": {"Email": "bigint"}}, RuleRefused, "that the table has already"),
        ({"key": ["colour"]}, RuleRefused, "makes colour part of the key"),
    ],
)
def test_what_cannot_be_added_is_refused(
    refined: Callable[..., Any], settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        refined(same, **settings)


def test_a_function_that_nobody_has_installed_is_refused() -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"No installed package has an entry point 'f' in the group roma\.transforms",
    ):
        refinement(transforms=[{"table": "shop.customer", "function": "f"}])


def test_a_lookup_that_is_not_configured_is_refused(
    refined: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    refined(same)
    monkeypatch.setattr("relay.refine.transform.transform_function", lambda _: same)
    with pytest.raises(ConfigurationError, match="names the lookup city, which is not configured"):
        refinement(transforms=[{"table": "shop.customer", "function": "f", "lookups": ["city"]}])

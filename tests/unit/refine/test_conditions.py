"""Conditions mean what they mean in SQL, with its three values, and what cannot be meant is refused
with the place.
"""

import sqlite3
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.errors import ConditionRefused, RowImageIncomplete, RuleRefused
from relay.model.value import ABSENT, Row
from relay.refine.condition import All, ColumnName, Comparison, Constant, Either, Not
from relay.refine.condition_parser import parse_condition
from relay.refine.like import like
from tests.support.conditions import ANSWERS, CUSTOMER, bound, row
from tests.support.examples import examples


@pytest.mark.parametrize(("text", "holds"), ANSWERS)
def test_a_condition_holds_or_not_or_nobody_knows(text: str, holds: bool | None) -> None:
    assert bound(text)(CUSTOMER) is holds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "at character 1: a column, a number or a text is missing here."),
        ("id", "at character 3: a comparison"),
        ("id =", "at character 5: a column"),
        ("id = 1 id = 2", "at character 8: AND, OR or the end is missing here."),
        ("id = 'x", "at character 6: ' is not closed."),
        ('id = "x"', "at character 6: write texts in single quotes"),
        ("id ; 1", "at character 4: ';' is not expected here."),
        ("(id = 1", "at character 8: ) is missing here."),
        ("id in ()", "at character 8: a column"),
        ("id between 1 or 2", "at character 14: AND is missing here."),
        ("id like 1", "at character 9: LIKE needs a text"),
        ("id = - 'x'", "at character 8: a sign is allowed only before a number."),
        ("sleep(10) = 1", "at character 6: a comparison"),
        ("id = 1 or (select 1)", "at character 19: a comparison"),
        ("id is 1", "at character 4: a comparison"),
        ("not", "at character 4: a column"),
        ("(" * 51 + "id = 1" + ")" * 51, "more than 50 brackets"),
        ("not " * 51 + "id = 1", "more than 50 brackets"),
        ("id = " + "1" * 10_000, "at most 10000 are allowed"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(ConditionRefused) as refused:
        parse_condition(text)
    assert words in refused.value.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 1", "names the column colour, which shop_1.customer does not have"),
        ("email = 1", "the column email is a text, and 1 is a number"),
        ("id = 'x'", "the column id is a number, and 'x' is a text"),
        ("id like '7'", "LIKE compares texts, and the column id is a number"),
        (
            "made = 'tomorrow'",
            "'tomorrow' is not a date or a moment: it must look like '2026-01-31'",
        ),
        ("lasts = 'long'", "'long' is not a TIME: it must look like '-12:34:56.7'"),
        ("doc = 'x'", "the column doc is neither number nor text nor time"),
        ("raw = raw", "neither number nor text nor time"),
        ("made = email", "the column made is a date or a moment, and the column email is a text"),
    ],
)
def test_what_the_table_cannot_answer_is_refused(text: str, words: str) -> None:
    with pytest.raises(RuleRefused) as refused:
        bound(text)
    assert words in refused.value.reason


def test_a_column_that_the_image_lacks_is_a_stop() -> None:
    with pytest.raises(RowImageIncomplete, match="needs the column price"):
        bound("price > 1")(row(price=ABSENT))


def test_precedence_is_that_of_sql() -> None:
    one, two, three = (Comparison(ColumnName("a"), "=", Constant(number)) for number in (1, 2, 3))
    assert parse_condition("a = 1 or a = 2 and not a = 3") == Either((one, All((two, Not(three)))))


@pytest.mark.parametrize(
    "text",
    [
        "123456789012345678901234567890.5",
        "-1234567890123456789012345678.12345678901234567890123456789",
    ],
)
def test_numbers_keep_all_their_digits(text: str) -> None:
    assert parse_condition(f"a = {text}") == Comparison(
        ColumnName("a"), "=", Constant(Decimal(text))
    )


NUMBERS = st.none() | st.integers(-2, 2)
CONDITIONS = st.recursive(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["id", "price", "null", "1", "-1", "0.5"]),
        st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
        st.sampled_from(["id", "price", "null", "0", "2"]),
    )
    | st.sampled_from(
        [
            "id is null",
            "price is not null",
            "id in (1, 2)",
            "id not in (0, null)",
            "price between -1 and 1",
            "id not between 0 and price",
        ]
    ),
    lambda parts: (
        st.builds("({} and {})".format, parts, parts)
        | st.builds("({} or {})".format, parts, parts)
        | st.builds("not {}".format, parts)
    ),
    max_leaves=8,
)


@settings(max_examples=examples(300))
@given(CONDITIONS, NUMBERS, NUMBERS)
def test_any_condition_means_what_a_database_means_by_it(
    text: str, number: int | None, price: int | None
) -> None:
    read: Row = row(id=number, price=None if price is None else f"{price}.00")
    with sqlite3.connect(":memory:") as database:
        (answer,) = database.execute(
            f"select {text} from (select ? as id, ? as price)", (number, price)
        ).fetchone()
    database.close()
    assert bound(text)(read) == (None if answer is None else bool(answer))


@given(st.text("ab%_\\", max_size=8), st.text("ab%_\\", max_size=8))
def test_like_agrees_with_its_definition(pattern: str, text: str) -> None:
    assert like(pattern)(text) == _like(pattern, text)


def _like(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "%":
        return any(_like(rest, text[at:]) for at in range(len(text) + 1))
    if first == "\\" and rest:
        first, rest = rest[0], rest[1:]
        return text[:1] == first and _like(rest, text[1:])
    return bool(text) and (first in ("_", text[0])) and _like(rest, text[1:])


def test_like_does_not_run_for_ever() -> None:
    assert not like("%a" * 200 + "b")("a" * 20_000)


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "id",
                "'x'",
                "1",
                "(",
                ")",
                "and",
                "or",
                "not",
                "in",
                ",",
                "=",
                "like",
                "is",
                "null",
                "-",
            ]
        )
    ).map(" ".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ConditionRefused, RuleRefused):
        bound(text)(row())

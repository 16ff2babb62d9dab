"""Conditions of operators: what could leave the parentheses or read other tables is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.model.source_rows.condition import condition_problem


@pytest.mark.parametrize(
    "text",
    [
        "",
        "created > '2026-01-01'",
        "a = 1 OR (b IN (1, 2) AND selected = 'x')",
        "name = 'it''s' AND `order;(--`.`select` = 1",
        "note LIKE '%;%' AND note <> \"UNION SELECT /* ) -- #\"",
        "updated_table = 1 AND unions IS NULL",
        "a - -1 = b / 2 * (c % 3)",
        "`cost_$` > 1",
    ],
)
def test_a_condition_on_the_columns_of_a_table_is_taken(text: str) -> None:
    assert condition_problem(text) == ""


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("1)) UNION ALL SELECT 1 -- ", "--"),
        ("1)) OR ((1", "parentheses"),
        ("(1", "parentheses"),
        ("1)", "parentheses"),
        ("1 # x", "#"),
        ("1 /*! OR 1 */", "/*"),
        ("a = 5--1", "--"),
        ("1; drop", ";"),
        ("id IN (SELECT id FROM t)", "SELECT"),
        ("id IN (select`id`from`t`)", "SELECT"),
        ("1e0union", "UNION"),
        ("id IN (TABLE secret)", "TABLE"),
        ("1 InTo outfile ''", "INTO"),
        ("a = 'x", "quote"),
        ("a = 'x\\' OR b = ' OR 1", "backslash"),
        ("a IN ('x\\' , ' )) UNION SELECT 1 -- ')", "backslash"),
        ('a = "x\\""', "quote"),
        ("a = \\N", "\\"),
        ("$$'$$ OR 1 = '", "$"),
        ("a = 1\0", "NUL"),
    ],
)
def test_what_could_read_anything_else_is_refused_by_name(text: str, named: str) -> None:
    assert named in condition_problem(text)


_PIECES = st.lists(
    st.sampled_from(
        [
            *("'", '"', "`", "\\", "(", ")", ";", "\n", " ", "a", "1", "=", "--", "#", "/*", "*/"),
            *("select", "UNION", "Into", "$$", "''", "\\'", "'\\'", "')'", "'a'", "')#'"),
        ]
    ),
    max_size=6,
).map("".join)


def _outside(text: str, *, escapes: bool) -> str | None:
    """Return what a server reads outside quotes, None where a quote is open at the end."""
    found, quote, at = "", "", 0
    while at < len(text):
        mark = text[at]
        if quote and escapes and mark == "\\" and quote != "`":
            at += 2
            continue
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"`":
            quote = mark
            found += " "
        else:
            found += mark
        at += 1
    return None if quote else found


@given(_PIECES, st.booleans())
def test_a_taken_condition_stays_in_its_parentheses_under_both_readings(
    text: str, escapes: bool
) -> None:
    if condition_problem(text):
        return
    plain = _outside(text, escapes=escapes)
    assert plain is not None
    assert not re.search(r"--|#|/\*|;|\b(select|union|into)\b", plain, re.IGNORECASE)
    depth = 0
    for mark in plain:
        depth += {"(": 1, ")": -1}.get(mark, 0)
        assert depth >= 0
    assert depth == 0


@given(st.text(st.characters(exclude_characters="\\\0'", exclude_categories=["Cs"])))
def test_any_text_without_a_backslash_is_taken_inside_quotes(text: str) -> None:
    assert condition_problem(f"name = '{text}'") == ""

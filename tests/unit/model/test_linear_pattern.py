"""Expressions of users: the meaning of Python's, in linear time, and what RE2 lacks refused by
name.
"""

import re
from time import process_time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relay.errors import ConfigurationError
from relay.model.names.linear_pattern import LinearPattern, PatternRefused
from relay.model.names.name_pattern import NamePattern
from relay.route.names import NameRefused, read_name

ATOMS = [
    "a",
    "b",
    "_",
    "-",
    "é",
    ".",
    r"\.",
    r"\d",
    r"\w",
    r"\D",
    r"\W",
    r"\s",
    r"\S",
    "[ab]",
    "[^a_]",
    r"[\w-]",
    r"[\d.]",
    "[]a]",
    "[^]a]",
    r"\u00e9",
]
TEXTS = st.text("ab_-é.1٣ \n", max_size=8)


def deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantified = st.tuples(
        inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{,2}", "*?", "+?"])
    ).map(lambda parts: f"(?:{parts[0]}){parts[1]}")
    joined = st.lists(inner, min_size=1, max_size=3).map("".join)
    either = st.lists(inner, min_size=2, max_size=3).map("|".join)
    return quantified | joined | either.map(lambda text: f"({text})") | either


PATTERNS = st.recursive(st.sampled_from(ATOMS), deeper, max_leaves=8)


@given(PATTERNS, TEXTS, st.booleans())
def test_it_matches_what_python_matches(pattern: str, text: str, ignore_case: bool) -> None:
    python = re.compile(pattern, re.IGNORECASE | re.DOTALL if ignore_case else 0)
    ours = LinearPattern(pattern, ignore_case=ignore_case, any_character=ignore_case)
    assert ours.is_whole(text) is (python.fullmatch(text) is not None)
    match = python.match(text)
    assert ours.first_match_is_whole(text) is (match is not None and match.end() == len(text))


@given(st.text(r"ab\[](){}?*+|.^$-,1dwsWDZbBux:=!<>iP", max_size=12), TEXTS)
def test_whatever_is_written_means_what_it_means_to_python_or_is_refused(
    pattern: str, text: str
) -> None:
    try:
        ours = LinearPattern(pattern)
    except PatternRefused:
        return
    assume(
        "$" not in pattern or not text.endswith("\n")
    )  # to Python `$` matches before a last line break too
    assert ours.is_whole(text) is (re.compile(pattern).fullmatch(text) is not None)


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("(?!mysql).*", r"\(\?!…\) \(negative look-ahead\)"),
        ("(?=a)a", "look-ahead"),
        ("(?<=a)b", "look-behind"),
        ("(?<!a)b", "look-behind"),
        (r"(a)\1", "backreference"),
        ("(?P<x>a)(?P=x)", "backreference"),
        ("(?>a+)b", "atomic"),
        ("a++b", "bad repetition operator"),
        (r"a\b", "word's border"),
        ("a{5000}", "bad repetition|repetition"),
        (r"[\W]", "within brackets"),
        ("(a", "unterminated"),
        ("[[:alpha:]]", "nested set"),
        ("\ud800", "cannot run"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(pattern: str, named: str) -> None:
    with pytest.raises(PatternRefused, match=named):
        LinearPattern(pattern)
    with pytest.raises(NameRefused, match=named):
        read_name(f"/{pattern}/")
    with pytest.raises(ConfigurationError, match=named) as caught:
        NamePattern(pattern)
    assert "docs/filters.md" in caught.value.way_out


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)*b", "([a-z]+)*b"])
def test_no_expression_runs_for_ever(pattern: str) -> None:
    text = "a" * 5000
    began = process_time()
    assert not LinearPattern(pattern).is_whole(text)
    assert not NamePattern(pattern).matches(text)
    assert process_time() - began < 2

"""Preconditions as RFC 9110 reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.entity_tag import Precondition, TagList, entity_tag
from api.errors import ApiError, BadRequest, PreconditionFailed, PreconditionRequired


def precondition(if_match: str | None = None, if_none_match: str | None = None) -> Precondition:
    return Precondition(TagList.read(if_match), TagList.read(if_none_match))


@given(st.lists(st.integers(0, 10**9), min_size=1), st.integers(0, 10**9))
def test_a_list_names_exactly_its_members(numbers: list[int], other: int) -> None:
    tags = TagList.read(", ".join(map(entity_tag, numbers)))
    assert tags is not None
    assert all(tags.names(number) for number in numbers)
    assert tags.names(other) == (other in numbers)


@pytest.mark.parametrize("header", ["12", '"12', "", ",", '"1",,"2"', '"1" "2"', "W/12", "**"])
def test_what_is_no_entity_tag_is_refused(header: str) -> None:
    with pytest.raises(BadRequest):
        TagList.read(header)


def test_a_weak_tag_and_a_star_are_read() -> None:
    assert TagList.read('W/"12"') == TagList(frozenset({"12"}))
    assert TagList.read(" * ") == TagList(frozenset(), any=True)
    assert TagList.read(None) is None


@pytest.mark.parametrize(
    ("if_match", "if_none_match", "exists", "outcome"),
    [
        (None, None, False, None),
        (None, None, True, PreconditionRequired),
        ('"5"', None, True, None),
        ('"5"', None, False, None),
        ('"4"', None, True, PreconditionFailed),
        ('"4"', None, False, PreconditionFailed),
        ('"4", "5"', None, True, None),
        ("*", None, True, None),
        ("*", None, False, PreconditionFailed),
        (None, "*", False, None),
        (None, "*", True, PreconditionFailed),
        (None, '"4"', True, None),
        (None, '"5"', True, PreconditionFailed),
    ],
)
def test_what_a_writer_knows_is_held_against_set_five(
    if_match: str | None, if_none_match: str | None, exists: bool, outcome: type[ApiError] | None
) -> None:
    known = precondition(if_match, if_none_match)
    if outcome is None:
        known.check(5, exists=exists)
    else:
        with pytest.raises(outcome):
            known.check(5, exists=exists)

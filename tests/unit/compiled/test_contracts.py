"""Compiled code refuses to be imported where a named tuple or a number of Python's is not as it was
compiled.
"""

from enum import IntEnum
from typing import NamedTuple

import pytest

from relay.compiled.contracts import check_fields, check_numbers


class Pair(NamedTuple):
    left: int
    right: int


class Colour(IntEnum):
    RED = 0
    BLUE = 1


def test_fields_with_their_indices_are_accepted() -> None:
    check_fields(Pair, left=0, right=1)
    check_numbers(Colour, RED=0, BLUE=1)


@pytest.mark.parametrize(
    "indices",
    [
        {"left": 1, "right": 0},
        {"left": 0},
        {"left": 0, "right": 1, "more": 2},
        {"left": 0, "rigth": 1},
    ],
)
def test_any_difference_of_fields_is_refused(indices: dict[str, int]) -> None:
    with pytest.raises(ImportError, match="its fields are left, right"):
        check_fields(Pair, **indices)


@pytest.mark.parametrize(
    "numbers", [{"RED": 1, "BLUE": 1}, {"RED": 0}, {"RED": 0, "BLUE": 1, "GREEN": 2}]
)
def test_any_difference_of_numbers_is_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ImportError, match=r"other numbers than Colour for (RED|BLUE|GREEN)"):
        check_numbers(Colour, **numbers)

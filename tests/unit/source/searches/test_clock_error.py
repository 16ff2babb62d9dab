"""Clocks that stand apart are said in whole seconds, and only beyond the limit."""

import pytest

from relay.source.server_checks import clock_error


@pytest.mark.parametrize("difference_s", [0.0, 59.9, 60.0, -60.0])
def test_clocks_within_the_limit_are_no_finding(difference_s: float) -> None:
    assert clock_error(difference_s, 60) is None


@pytest.mark.parametrize(
    ("difference_s", "said"), [(61.2, "61 s ahead"), (-3600.4, "3600 s behind")]
)
def test_clocks_beyond_it_are_named_with_their_difference(difference_s: float, said: str) -> None:
    error = clock_error(difference_s, 60)
    assert error is not None
    assert (
        error.reason
        == f"The source's clock and the relay's are more than 60 s apart: the source's is {said}."
    )

"""Floating-point numbers print as in the readable rooms; what they hold of no number is refused."""

import math
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.encode.texts.server_numbers import double_text as readable_double
from relay.encode.texts.server_numbers import float_text as readable_float
from relay.generated.numbers import double_text, float_text
from relay.generated.tables import Refused

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite | st.floats(1e-5, 1e16) | st.integers(-(10**17), 10**17).map(float))
@example(1e-4)
@example(math.nextafter(1e-4, 0))
@example(1e15)
@example(math.nextafter(1e15, 0))
@example(-0.0)
@example(5e-324)
def test_doubles_are_the_same(value: float) -> None:
    assert double_text(value) == readable_double(value)


@given(
    st.floats(width=32, allow_nan=False, allow_infinity=False)
    | st.floats(0, 1_000_000).map(lambda x: struct.unpack("f", struct.pack("f", x))[0])
)
@example(99_999.953125)
@example(999_999.5)
def test_floats_are_the_same(value: float) -> None:
    assert float_text(value) == readable_float(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    for text in (double_text, float_text):
        with pytest.raises(Refused):
            text(value)

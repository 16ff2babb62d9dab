"""The `claim` header is read as it was written, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.envelope import Claim, claim_text, parse_claim


@given(st.text(st.characters(codec="utf-8")), st.binary())
def test_a_claim_is_read_as_it_was_written(url: str, value: bytes) -> None:
    claim = Claim.of(url, value)
    assert parse_claim(claim_text(claim).encode("ascii")) == claim


NO_NUMBER = '{"url":"x","size":"1","sha256":"' + 64 * "0" + '"}'


@pytest.mark.parametrize("text", ["", "1", "{}", NO_NUMBER, '{"url":"x","size":1,"sha256":"0"}'])
def test_what_is_no_claim_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"claim|Expecting"):
        parse_claim(text)

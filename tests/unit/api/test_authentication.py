"""The token guards, and nothing but the token opens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from api.access import ANONYMOUS, Gate
from api.errors import TokenMissing, WritesForbidden
from relay.model.accounts import Right

WRITE = frozenset({Right.EDIT})
GATE = Gate(SecretStr("s3cr3t"))


@pytest.mark.parametrize("header", ["Bearer s3cr3t", "bearer s3cr3t", "Bearer  s3cr3t "])
def test_the_token_opens(header: str) -> None:
    assert GATE.admit(header, WRITE).rights == frozenset(Right)


@given(st.none() | st.text() | st.text().map("Bearer {}".format))
def test_nothing_else_does(header: str | None) -> None:
    with pytest.raises(TokenMissing) as caught:
        GATE.admit(header, WRITE)
    assert "s3cr3t" not in str(caught.value)


@given(st.none() | st.text())
def test_reading_needs_no_token(header: str | None) -> None:
    assert GATE.admit(header, frozenset({Right.READ})) == ANONYMOUS


@pytest.mark.parametrize(("header", "code"), [(None, "TOKEN_MISSING"), ("Bearer ", "TOKEN_MISSING"), ("Bearer x", "TOKEN_WRONG")])
def test_a_wrong_token_is_not_called_missing(header: str | None, code: str) -> None:
    with pytest.raises(TokenMissing) as caught:
        GATE.admit(header, WRITE)
    assert caught.value.code == code


@pytest.mark.parametrize("right", [each for each in Right if each is not Right.READ])
@pytest.mark.parametrize("token", [None, SecretStr("")])
@pytest.mark.parametrize("header", [None, "", "Bearer ", "Bearer x"])
def test_without_a_token_nobody_may_write(token: SecretStr | None, header: str | None, right: Right) -> None:
    with pytest.raises(WritesForbidden):
        Gate(token).admit(header, frozenset({right}))

"""The token guards, and nothing but the token opens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from api.auth import check_token
from api.errors import TokenMissing, WritesForbidden


@pytest.mark.parametrize("header", ["Bearer s3cr3t", "bearer s3cr3t", "Bearer  s3cr3t "])
def test_the_token_opens(header: str) -> None:
    check_token(header, SecretStr("s3cr3t"))


@given(st.none() | st.text() | st.text().map("Bearer {}".format))
def test_nothing_else_does(header: str | None) -> None:
    with pytest.raises(TokenMissing) as caught:
        check_token(header, SecretStr("s3cr3t"))
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(("header", "code"), [(None, "TOKEN_MISSING"), ("Bearer ", "TOKEN_MISSING"), ("Bearer x", "TOKEN_WRONG")])
def test_a_wrong_token_is_not_called_missing(header: str | None, code: str) -> None:
    with pytest.raises(TokenMissing) as caught:
        check_token(header, SecretStr("s3cr3t"))
    assert caught.value.code == code


@pytest.mark.parametrize("token", [None, SecretStr("")])
@pytest.mark.parametrize("header", [None, "", "Bearer ", "Bearer x"])
def test_without_a_token_nobody_may_write(token: SecretStr | None, header: str | None) -> None:
    with pytest.raises(WritesForbidden):
        check_token(header, token)

"""The token guards, and nothing but the token opens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from api.access import ANONYMOUS, Caller, Gate
from api.access.caller import TOKEN_OF_FILE
from api.errors import ApiError, TokenMissing, TokenWrong, WritesForbidden
from relay.errors import StoreUnreachable
from relay.model.accounts import Accounts, ApiToken, Grant, Right, Role, User, secret_hash

WRITE = frozenset({Right.EDIT})
GATE = Gate(SecretStr("s3cr3t"), Accounts)


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


@pytest.mark.parametrize(
    ("header", "code"),
    [(None, "TOKEN_MISSING"), ("Bearer ", "TOKEN_MISSING"), ("Bearer x", "TOKEN_WRONG")],
)
def test_a_wrong_token_is_not_called_missing(header: str | None, code: str) -> None:
    with pytest.raises(TokenMissing) as caught:
        GATE.admit(header, WRITE)
    assert caught.value.code == code


@pytest.mark.parametrize("right", [each for each in Right if each is not Right.READ])
@pytest.mark.parametrize("token", [None, SecretStr("")])
@pytest.mark.parametrize("header", [None, "", "Bearer ", "Bearer x"])
def test_without_a_token_nobody_may_write(
    token: SecretStr | None, header: str | None, right: Right
) -> None:
    with pytest.raises(WritesForbidden):
        Gate(token, Accounts).admit(header, frozenset({right}))


HERS = ApiToken("ci", "ann", Grant(Role.ADMIN, values=True), secret_hash("hers"), "hers", 1)
ANN = Accounts({"ann": User("ann", Grant(Role.EDITOR), 1)}, {"ci": HERS})
READ = frozenset({Right.READ})


@pytest.mark.parametrize("token", [None, SecretStr("s3cr3t")])
@pytest.mark.parametrize(
    ("header", "needed", "code"),
    [
        (None, READ, "TOKEN_MISSING"),
        ("Bearer ", READ, "TOKEN_MISSING"),
        ("Basic hers", READ, "TOKEN_MISSING"),
        ("Bearer other", READ, "TOKEN_WRONG"),
        (None, WRITE, "TOKEN_MISSING"),
        ("Bearer other", WRITE, "TOKEN_WRONG"),
        ("Bearer hers", frozenset({Right.OPERATE}), "RIGHT_MISSING"),
        ("Bearer hers", frozenset({Right.VALUES}), "RIGHT_MISSING"),
        ("Bearer hers", frozenset({Right.EDIT, Right.VALUES}), "RIGHT_MISSING"),
    ],
)
def test_with_users_each_caller_is_asked(
    token: SecretStr | None, header: str | None, needed: frozenset[Right], code: str
) -> None:
    with pytest.raises(ApiError) as caught:
        Gate(token, lambda: ANN).admit(header, needed)
    assert caught.value.code == code


def test_a_token_of_a_user_opens_as_the_user() -> None:
    found = Gate(None, lambda: ANN).admit("Bearer hers", WRITE)
    assert found == Caller("ann", frozenset({Right.READ, Right.EDIT}), is_user=True)


def test_the_token_of_the_file_needs_no_users_to_be_read() -> None:
    def unreadable() -> Accounts:
        raise StoreUnreachable("ZooKeeper is away.")

    gate = Gate(SecretStr("s3cr3t"), unreadable)
    assert gate.admit("Bearer s3cr3t", WRITE) == TOKEN_OF_FILE
    assert gate.admit(None, frozenset()) == ANONYMOUS
    for header in (None, "Bearer hers"):
        with pytest.raises(StoreUnreachable):
            gate.admit(header, READ)


def test_users_that_vanish_open_nothing() -> None:
    present = [ANN]
    gate = Gate(None, lambda: present[-1])
    gate.admit("Bearer hers", READ)
    present.append(Accounts())
    with pytest.raises(TokenMissing):
        gate.admit(None, READ)
    with pytest.raises(TokenWrong):
        gate.admit("Bearer hers", READ)
    with pytest.raises(WritesForbidden):
        gate.admit("Bearer hers", WRITE)


def test_reading_may_ask_for_a_token_before_there_are_users() -> None:
    with pytest.raises(TokenMissing):
        Gate(SecretStr("s3cr3t"), Accounts, always_ask=True).admit(None, READ)

"""Which passwords are refused, and that only the password has its hash."""

import pytest

from relay.errors import AccountRefused
from relay.model.accounts import Accounts, Grant, Role, User, check_password
from relay.passwords import hashed, verify

GOOD = "correct horse battery"


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("ann", ""),
        ("ann", "short"),
        ("ann", "eleven char"),
        ("ann", "x" * 201),
        ("ann", "abababababab"),
        ("ann", "my name is Ann, hello"),
        ("ann@example.org", "1ANN@EXAMPLE.ORG1"),
    ],
)
def test_weak_passwords_are_refused_without_being_repeated(name: str, password: str) -> None:
    with pytest.raises(AccountRefused) as caught:
        check_password(name, password)
    assert not password or password not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "password"),
    [("ann", GOOD), ("ann", "twelve chars"), ("e", GOOD), ("ann", "пароль" * 2)],
)
def test_others_are_taken(name: str, password: str) -> None:
    check_password(name, password)


def test_only_the_password_has_its_hash() -> None:
    wanted = hashed(GOOD)
    assert wanted.startswith("$argon2id$v=19$m=47104,t=2,p=1$")
    assert wanted != hashed(GOOD)
    assert verify(GOOD, wanted)
    assert not verify(f"{GOOD} ", wanted)
    assert not verify("", wanted)


@pytest.mark.parametrize("wanted", ["", "x", "$argon2id$", "$argon2id$v=19$m=8,t=1,p=1$YQ$YQ"])
@pytest.mark.parametrize("password", ["", GOOD, "\udcff"])
def test_a_missing_or_damaged_hash_opens_to_nobody(password: str, wanted: str) -> None:
    assert not verify(password, wanted)


def test_a_hash_is_not_in_the_words_of_a_user() -> None:
    user = User("ann", Grant(Role.VIEWER), 1, password=hashed(GOOD))
    assert "argon2" not in repr(Accounts({"ann": user}))

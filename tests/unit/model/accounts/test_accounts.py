"""Users and tokens: who holds which rights, and what is refused."""

from dataclasses import replace
from itertools import pairwise

import pytest

from relay.errors import AccountRefused
from relay.model.accounts import (
    Accounts,
    ApiToken,
    Grant,
    Identity,
    Right,
    Role,
    User,
    rights_of,
    secret_hash,
)

NOW = 1_000_000


def user(name: str = "ann", role: Role = Role.ADMIN, *, values: bool = True) -> User:
    return User(name, Grant(role, values), NOW)


def token(role: Role = Role.ADMIN, *, values: bool = True, owner: str = "ann") -> ApiToken:
    return ApiToken("ci", owner, Grant(role, values), secret_hash("s3cr3t"), "cr3t", NOW)


def accounts() -> Accounts:
    return Accounts().with_user(user()).with_token(token())


def test_each_role_adds_one_right_and_none_holds_values() -> None:
    held = [rights_of(role) for role in Role]
    assert [len(each) for each in held] == [1, 2, 3, 4]
    assert all(lower < higher for lower, higher in pairwise(held))
    assert all(Right.VALUES not in each for each in held)
    assert rights_of(Role.ADMIN, values=True) == frozenset(Right)


def test_a_token_opens_with_the_rights_that_it_and_its_owner_have() -> None:
    for owners, tokens in ((Role.ADMIN, Role.VIEWER), (Role.VIEWER, Role.ADMIN)):
        found = replace(
            accounts(),
            users={"ann": user(role=owners)},
            tokens={"ci": token(role=tokens, values=False)},
        ).holder("s3cr3t", NOW)
        assert found is not None
        assert (found[0].name, found[1]) == ("ann", frozenset({Right.READ}))


@pytest.mark.parametrize(
    "secret", ["", "s3cr3", "s3cr3t ", "S3cr3t", "\udcff", secret_hash("s3cr3t")]
)
def test_nothing_but_the_token_opens(secret: str) -> None:
    assert accounts().holder(secret, NOW) is None


@pytest.mark.parametrize("name", ["api.token", "API.Token"])
def test_nobody_has_the_name_of_the_token_of_the_file(name: str) -> None:
    """The audit trail has its acts under this name."""
    with pytest.raises(AccountRefused, match=r"api\.token"):
        accounts().with_user(user(name))
    with pytest.raises(AccountRefused, match=r"api\.token"):
        accounts().with_token(replace(token(), name=name))
    identity = Identity("https://issuer", "7")
    with pytest.raises(AccountRefused, match=r"api\.token"):
        accounts().signed_in(name, identity, Grant(Role.VIEWER), NOW)


def test_a_token_without_a_hash_opens_to_nobody() -> None:
    damaged = replace(accounts(), tokens={"ci": replace(token(), hash="")})
    assert damaged.holder("", NOW) is None
    assert damaged.holder("s3cr3t", NOW) is None


def test_an_expired_token_is_refused_from_its_moment_on() -> None:
    ending = replace(accounts(), tokens={"ci": replace(token(), expires_ms=NOW + 1)})
    assert ending.holder("s3cr3t", NOW) is not None
    assert ending.holder("s3cr3t", NOW + 1) is None


def test_tokens_end_with_their_owner() -> None:
    disabled = accounts().changed("ann", disabled=True)
    assert disabled.holder("s3cr3t", NOW) is None
    assert disabled.changed("ann", disabled=False).holder("s3cr3t", NOW) is not None
    assert replace(accounts(), users={}).holder("s3cr3t", NOW) is None
    assert accounts().without_token("ci").holder("s3cr3t", NOW) is None


def test_a_lower_role_of_the_owner_takes_rights_from_its_tokens() -> None:
    found = accounts().changed("ann", grant=Grant(Role.EDITOR)).holder("s3cr3t", NOW)
    assert found is not None
    assert found[1] == {Right.READ, Right.EDIT}


@pytest.mark.parametrize(
    "name",
    ["", " ann", "ann\n", "a\r\nX-Author: bob", "-ann", "ä", "a" * 101, "a/b", "a b", "\x00"],
)
def test_names_are_plain(name: str) -> None:
    with pytest.raises(AccountRefused):
        Accounts().with_user(user(name))
    with pytest.raises(AccountRefused):
        accounts().with_token(replace(token(), name=name))


def test_what_is_refused() -> None:
    with pytest.raises(AccountRefused, match="already"):
        accounts().with_user(user())
    with pytest.raises(AccountRefused, match="already"):
        accounts().with_token(token())
    with pytest.raises(AccountRefused, match="no user bob"):
        accounts().with_token(replace(token(owner="bob"), name="other"))
    with pytest.raises(AccountRefused, match="disabled"):
        accounts().changed("ann", disabled=True).with_token(replace(token(), name="other"))
    with pytest.raises(AccountRefused, match="lacks the right values"):
        Accounts().with_user(user(values=False)).with_token(token())
    with pytest.raises(AccountRefused, match="no user bob"):
        accounts().changed("bob", disabled=True)
    with pytest.raises(AccountRefused, match="no token x"):
        accounts().without_token("x")


def test_the_number_of_users_is_bounded() -> None:
    full = Accounts({f"u{number}": user(f"u{number}") for number in range(1000)})
    with pytest.raises(AccountRefused, match="1000 users"):
        full.with_user(user("one-more"))

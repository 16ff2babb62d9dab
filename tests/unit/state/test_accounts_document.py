"""The document of users and tokens: read whole or refused, because a user that is left out would
open the admin.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import StoreRefused
from relay.model.accounts import Accounts, ApiToken, Grant, Role, User
from relay.state.accounts import from_document, to_document

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,9}", fullmatch=True)
GRANTS = st.builds(Grant, st.sampled_from(Role), st.booleans())
PASSWORDS = st.just("") | st.text("abc$,=").map("$argon2id${}".format)
USERS = st.builds(User, NAMES, GRANTS, st.integers(0, 2**50), st.booleans(), PASSWORDS)
TIMES = st.integers(0, 2**50)
TOKENS = st.builds(
    ApiToken,
    NAMES,
    NAMES,
    GRANTS,
    st.text("0123456789abcdef"),
    st.text("abc", max_size=4),
    TIMES,
    TIMES,
)


def by_name(users: list[User], tokens: list[ApiToken]) -> Accounts:
    return Accounts({each.name: each for each in users}, {each.name: each for each in tokens})


ACCOUNTS = st.builds(by_name, st.lists(USERS), st.lists(TOKENS))


@given(ACCOUNTS)
def test_what_is_written_is_read(accounts: Accounts) -> None:
    assert from_document(to_document(accounts)) == accounts


def test_fields_of_a_later_version_are_left_out() -> None:
    fields = json.loads(to_document(Accounts({"ann": User("ann", Grant(Role.VIEWER), 1)})))
    fields["users"][0]["photo"] = "…"
    assert from_document(json.dumps(fields).encode()).users["ann"].grant == Grant(Role.VIEWER)


@given(ACCOUNTS)
def test_an_older_version_reads_it_until_a_user_has_a_password(accounts: Accounts) -> None:
    has_passwords = any(each.password for each in accounts.users.values())
    assert json.loads(to_document(accounts))["format"] == (2 if has_passwords else 1)


def test_format_1_has_no_passwords() -> None:
    fields = json.loads(to_document(Accounts({"ann": User("ann", Grant(Role.VIEWER), 1)})))
    fields["users"][0]["password"] = "$argon2id$v=19$…"
    assert not from_document(json.dumps(fields).encode()).users["ann"].password


@pytest.mark.parametrize("password", ["", "secret", "$2b$12$x", 7, None])
def test_a_password_that_is_no_hash_is_refused(password: object) -> None:
    user = User("ann", Grant(Role.VIEWER), 1, password="$argon2id$x")
    fields = json.loads(to_document(Accounts({"ann": user})))
    fields["users"][0]["password"] = password
    with pytest.raises(StoreRefused, match="users"):
        from_document(json.dumps(fields).encode())


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"format": 0, "users": [], "tokens": []}',
        b'{"format": 4, "users": [], "tokens": []}',
        b'{"format": 1, "users": [{"name": "ann"}], "tokens": []}',
        b'{"format": 1, "users": [{"name": "ann", "role": "root"}], "tokens": []}',
        b'{"format": 1, "users": ["ann"], "tokens": []}',
        b'{"format": 1, "users": {}, "tokens": []}',
        b'{"format": 1, "tokens": []}',
        b'{"format": 1, "users": [], "tokens": [{"name": "ci", "owner": "ann", "role": "viewer"}]}',
    ],
)
def test_anything_else_is_refused(value: bytes) -> None:
    with pytest.raises(StoreRefused, match="users"):
        from_document(value)

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
USERS = st.builds(User, NAMES, GRANTS, st.integers(0, 2**50), st.booleans())
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
    fields["users"][0]["password"] = "$argon2id$…"
    assert from_document(json.dumps(fields).encode()).users["ann"].grant == Grant(Role.VIEWER)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"format": 0, "users": [], "tokens": []}',
        b'{"format": 2, "users": [], "tokens": []}',
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

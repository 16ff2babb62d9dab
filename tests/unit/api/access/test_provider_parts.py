"""The pure parts of signing in by a provider."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api.access.cookies import new_secret
from api.access.provider.attempt import VALID_SECONDS, Attempt
from api.access.provider.errors import AttemptUnknown
from api.access.provider.limit import BURST, REFILL_SECONDS, FailureLimit
from api.access.provider.profile import profile_of
from api.errors import LoginPaused
from relay.errors import AccountRefused
from relay.model.accounts import (
    Accounts,
    ApiToken,
    Grant,
    Identity,
    LoginSession,
    Role,
    User,
    stamp_of,
)
from relay.settings import OidcSettings, TrustedHeaderSettings
from relay.state.accounts import from_document, to_document

NEEDED: dict[str, Any] = {
    "issuer": "https://id.example.org",
    "client_id": "roma",
    "client_secret": "s",
    "public_url": "https://roma.example.org/relay",
    "roles": {"ops": "operator", "all": "viewer"},
}
ANN = Identity("https://id.example.org", "1")
BOB = Identity("https://id.example.org", "2")


@given(st.text(max_size=600), st.integers(0, VALID_SECONDS))
def test_the_state_brings_page_and_time_back_to_its_own_browser_alone(
    following: str, later_s: int
) -> None:
    mine = Attempt(new_secret(), following, 1000)
    assert Attempt.of_answer(mine.state, mine.secret, 1000 + later_s) == mine
    with pytest.raises(AttemptUnknown):
        Attempt.of_answer(mine.state, new_secret(), 1000)


def test_a_state_of_half_a_character_is_refused() -> None:
    with pytest.raises(AttemptUnknown):
        Attempt.of_answer("\ud800." + "\ud800", "A" * 43, 1000)


@given(st.data())
def test_a_changed_state_is_refused(data: st.DataObject) -> None:
    mine = Attempt("A" * 43, "/", 1000)
    at = data.draw(st.integers(0, len(mine.state) - 1))
    letter = data.draw(st.characters(exclude_characters=mine.state[at]))
    changed = mine.state[:at] + letter + mine.state[at + 1 :]
    with pytest.raises(AttemptUnknown):
        Attempt.of_answer(changed, mine.secret, 1000)


@pytest.mark.parametrize("now_s", [999, 1001 + VALID_SECONDS])
def test_an_old_state_and_one_of_the_future_are_refused(now_s: int) -> None:
    mine = Attempt(new_secret(), "/", 1000)
    with pytest.raises(AttemptUnknown):
        Attempt.of_answer(mine.state, mine.secret, now_s)


def test_state_nonce_and_verifier_differ_and_tell_no_secret() -> None:
    mine = Attempt(new_secret(), "/", 1000)
    made = {mine.secret, mine.nonce, mine.verifier, mine.state.partition(".")[2]}
    assert len(made) == 4
    assert len(mine.verifier) == 43  # RFC 7636: 43 to 128 characters
    assert mine.secret not in repr(mine)


@pytest.mark.parametrize(
    ("claims", "grant"),
    [
        ({"groups": ["all", "ops"]}, Grant(Role.OPERATOR)),
        ({"groups": "all"}, Grant(Role.VIEWER)),
        ({"groups": ["all", "rows"]}, Grant(Role.VIEWER, values=True)),
        ({"groups": ["rows"]}, None),
        ({"groups": [7, None, {"all": 1}]}, None),
        ({"groups": {"all": True}}, None),
        ({}, None),
    ],
)
def test_the_highest_role_counts(claims: dict[str, Any], grant: Grant | None) -> None:
    settings = OidcSettings.model_validate({**NEEDED, "values": ["rows"]})
    fixed = {"iss": "i", "sub": "s", "exp": 7, "preferred_username": "ann"}
    assert profile_of({**fixed, **claims}, settings).grant == grant


def test_roles_may_be_inside_of_an_object_and_the_end_may_be_that_of_the_settings() -> None:
    more = {"role_claim": "realm_access.roles", "session_end": "settings"}
    settings = OidcSettings.model_validate({**NEEDED, **more})
    claims = {
        "iss": "i",
        "sub": "s",
        "exp": 7,
        "preferred_username": "ann",
        "realm_access": {"roles": ["ops"]},
    }
    found = profile_of(claims, settings)
    assert (found.grant, found.ends_ms) == (Grant(Role.OPERATOR), 0)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"issuer": "http://id.example.org"}, "must begin with https"),
        ({"issuer": "https://id.example.org?x=1"}, "without query"),
        ({"public_url": "roma.example.org"}, "must be https"),
        ({"scopes": ["profile"]}, "lacks"),
        ({"scopes": ["openid", "a b"]}, "pattern"),
        ({"roles": {}}, "roles is empty"),
        ({"roles": {"x": "root"}}, "viewer"),
        ({"client_id": ""}, "at least 1"),
        ({"clientsecret": "x"}, "Extra"),
    ],
)
def test_settings_that_would_open_the_admin_are_refused(change: dict[str, Any], word: str) -> None:
    with pytest.raises(ValidationError, match=word):
        OidcSettings.model_validate({**NEEDED, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"user": "Cookie"},
        {"user": "X User"},
        {"user": "x-groups"},
        {"roles": {}},
        {"proxies": ["0.0.0.0/0"]},
        {"proxies": ["proxy.example.org"]},
    ],
)
def test_headers_that_anybody_may_send_are_refused(change: dict[str, Any]) -> None:
    needed = {"user": "X-User", "roles_header": "X-Groups", "roles": {"ops": "operator"}}
    TrustedHeaderSettings.model_validate(needed)
    with pytest.raises(ValidationError):
        TrustedHeaderSettings.model_validate({**needed, **change})


def test_the_client_secret_is_not_printed() -> None:
    settings = OidcSettings.model_validate({**NEEDED, "client_secret": "a-long-secret"})
    assert "a-long-secret" not in repr(settings) + settings.model_dump_json()


def test_a_sign_in_adds_updates_and_renames_with_the_tokens() -> None:
    token = ApiToken("laptop", "ann", Grant(Role.VIEWER), "h", "last", 1)
    added = Accounts().signed_in("ann", ANN, Grant(Role.EDITOR), 5).with_token(token)
    again = added.signed_in("ann", ANN, Grant(Role.VIEWER), 6)
    assert again.users["ann"] == User("ann", Grant(Role.VIEWER), 5, identity=ANN)
    renamed = again.signed_in("eve", ANN, Grant(Role.VIEWER), 7)
    assert (list(renamed.users), renamed.tokens["laptop"].owner) == (["eve"], "eve")


def test_names_of_others_and_disabled_users_are_refused() -> None:
    there = Accounts().signed_in("ann", ANN, Grant(Role.EDITOR), 5)
    there = there.with_user(User("root", Grant(Role.ADMIN), 1, password="$argon2id$x"))
    for name in ("ann", "root"):
        with pytest.raises(AccountRefused, match="already"):
            there.signed_in(name, BOB, Grant(Role.ADMIN), 6)
    with pytest.raises(AccountRefused, match="already"):
        there.signed_in("root", ANN, Grant(Role.ADMIN), 6)
    disabled = there.changed("ann", disabled=True)
    for name in ("ann", "eve"):
        with pytest.raises(AccountRefused, match="is disabled"):
            disabled.signed_in(name, ANN, Grant(Role.ADMIN), 6)


def test_the_provider_alone_decides_role_and_password_of_its_users() -> None:
    there = Accounts().signed_in("ann", ANN, Grant(Role.EDITOR), 5)
    for change in ({"grant": Grant(Role.ADMIN)}, {"password": "$argon2id$x"}):
        with pytest.raises(AccountRefused, match="decides the role"):
            there.changed("ann", **change)
    assert there.changed("ann", grant=Grant(Role.EDITOR), disabled=True).users["ann"].disabled


def test_users_of_a_provider_raise_the_format_so_that_older_versions_refuse() -> None:
    there = Accounts().signed_in("ann", ANN, Grant(Role.EDITOR), 5)
    assert b'"format":3' in to_document(there)
    assert from_document(to_document(there)) == there
    local = Accounts().with_user(User("bob", Grant(Role.ADMIN), 1, password="$argon2id$x"))
    assert b'"format":2' in to_document(local)
    assert b'"format":1' in to_document(Accounts())


def test_a_session_is_that_of_one_identity_until_the_provider_s_end() -> None:
    ann = User("ann", Grant(Role.VIEWER), 5, identity=ANN)
    session = LoginSession("ann", stamp_of(ann), 1000, 1000, 5000)
    assert session.is_of(ann)
    assert not session.is_of(User("ann", Grant(Role.VIEWER), 5, identity=BOB))
    assert not session.is_of(User("ann", Grant(Role.VIEWER), 5, disabled=True, identity=ANN))
    assert [session.is_over(now, 3600, 3600) for now in (4999, 5000)] == [False, True]


def test_failures_of_one_network_are_counted_and_forgotten_with_time() -> None:
    now = [0.0]
    limit = FailureLimit(lambda: now[0])
    for number in range(BURST):
        limit.check("2001:db8::1")
        limit.failed(f"2001:db8::{number}")
    with pytest.raises(LoginPaused) as paused:
        limit.check("2001:db8::ffff")
    assert 0 < paused.value.seconds <= REFILL_SECONDS + 1
    limit.check("203.0.113.7")
    now[0] += REFILL_SECONDS
    limit.check("2001:db8::1")

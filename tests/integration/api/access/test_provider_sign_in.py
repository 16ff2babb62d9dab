"""Signing in by an OpenID Connect provider, with admins on real ZooKeeper."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import time
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from api.access.cookies import id_of
from api.access.provider.limit import BURST
from deploy.embedded import ZooKeeper
from relay.deadline import Deadline
from relay.model.accounts import Grant, Role
from relay.operations import AccountEditor, Who
from relay.settings import RelaySettings
from relay.state import LoginSessionStore, Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.oidc_provider import CLIENT, SECRET, Provider, oidc_provider
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

PUBLIC = "http://localhost:1/roma"
READ = "/api/v1/placement"
SESSION = "/api/v1/session"
HTML = {"Accept": "text/html"}
WHO = Who("test")


@dataclass
class Installation:
    """A provider, two admins and the stores of one installation."""

    provider: Provider
    settings: RelaySettings
    session: Session
    editor: AccountEditor
    bases: list[str]
    opened: list[httpx.Client]
    key: RSAKey

    def browser(self, admin: int = 0) -> httpx.Client:
        made = httpx.Client(base_url=self.bases[admin], trust_env=False, timeout=60, headers=HTML)
        self.opened.append(made)
        return made

    def begun(self, browser: httpx.Client, following: str = "/") -> dict[str, str]:
        """Begin a sign-in: return what the provider sends the browser back with."""
        led = browser.get("/login/oidc", params={"next": following})
        assert led.status_code == 303, led.text
        return self.provider.answer_of(led.headers["location"])

    def finished(self, browser: httpx.Client, **claims: Any) -> httpx.Response:
        """Sign ann in whom the provider knows by these claims."""
        self.provider.claims = claims
        return browser.get("/login/oidc/callback", params=self.begun(browser))


@pytest.fixture(scope="module")
def module_provider() -> Iterator[Provider]:
    with oidc_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def admins(
    module_provider: Provider, zookeeper: ZooKeeper, fresh_name: FreshName
) -> Iterator[Installation]:
    oidc = {
        "issuer": module_provider.url,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "public_url": PUBLIC,
        "roles": {"relay-viewers": "viewer", "relay-operators": "operator"},
        "values": ["relay-values"],
    }
    settings = admin_settings(zookeeper.hosts, fresh_name("oidc"), api={"port": 0, "oidc": oidc})
    session = Session(settings.zookeeper)
    session.start(Deadline.after(60))
    editor = AccountEditor(settings, session)
    with admin_client(settings) as first, admin_client(settings) as second:
        wait_until(
            lambda: all(each.get("/readyz").status_code == 200 for each in (first, second)),
            "the admins to reach ZooKeeper",
        )
        bases = [str(first.base_url), str(second.base_url)]
        made = Installation(
            module_provider, settings, session, editor, bases, [], module_provider.key
        )
        yield made
        for browser in made.opened:
            browser.close()
    editor.close(0)
    session.stop()


@pytest.fixture
def there(admins: Installation, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """The installation without users, and with an honest provider."""
    paths = Paths.of(admins.settings.zookeeper, admins.settings.installation)
    if admins.session.find(paths.accounts) is not None:
        admins.session.delete(paths.accounts)
    honest = Provider(url=admins.provider.url, key=admins.key)
    vars(admins.provider).update(vars(honest))
    monkeypatch.setattr("api.access.provider.desk.FailureLimit.failed", lambda *_: None)
    monkeypatch.setattr("api.access.provider.client.KEYS_AGAIN_SECONDS", 0.0)
    return admins


def test_one_admin_finishes_what_another_began_and_both_know_the_session(
    there: Installation,
) -> None:
    ann = there.browser()
    answer = there.begun(ann, "/users?edit=x")
    other = there.browser(1)
    other.cookies.update(ann.cookies)
    led = other.get("/login/oidc/callback", params=answer)
    assert (led.status_code, led.headers["location"]) == (303, "../../users?edit=x")
    given = led.headers.get_list("set-cookie")
    assert any(each.startswith("roma_session=") and "SameSite=lax" in each for each in given)
    assert any(each.startswith("roma_oidc=") and "Max-Age=0" in each for each in given)
    for admin in (0, 1):
        browser = there.browser(admin)
        browser.cookies.update(other.cookies)
        shown = browser.get(SESSION).json()
        assert (shown["name"], shown["rights"]) == ("ann", ["edit", "operate", "read"])
    users = there.editor.accounts().users
    assert users["ann"].identity is not None
    assert users["ann"].identity.subject == "id-of-ann"


def test_a_session_ends_with_the_id_token(there: Installation) -> None:
    ann = there.browser()
    there.finished(ann, exp=int(time()) + 100)
    ends_ms = ann.get(SESSION).json()["ends_ms"]
    assert 0 < ends_ms - time() * 1000 <= 100_000
    store = LoginSessionStore(
        there.session, Paths.of(there.settings.zookeeper, there.settings.installation)
    )
    stored = store.find(id_of(ann.cookies["roma_session"]))
    assert stored is not None
    path = Paths.of(there.settings.zookeeper, there.settings.installation).login_session(
        id_of(ann.cookies["roma_session"])
    )
    fields = json.loads(there.session.get(path).value)
    there.session.put(path, json.dumps({**fields, "ends_ms": int(time() * 1000) - 1}).encode())
    assert ann.get(READ).status_code == 401


FOREIGN_KEY = RSAKey.generate_key(2048, {"kid": "one"})
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "wrong audience": ({"aud": "another"}, "OIDC_TOKEN_REFUSED", "aud"),
    "two audiences, for another party": (
        {"aud": [CLIENT, "another"], "azp": "another"},
        "OIDC_TOKEN_REFUSED",
        "azp",
    ),
    "wrong issuer": ({"iss": "https://evil.example"}, "OIDC_TOKEN_REFUSED", "iss"),
    "expired": ({"exp": int(time()) - 3600}, "OIDC_TOKEN_REFUSED", "expired"),
    "of the future": ({"iat": int(time()) + 3600}, "OIDC_TOKEN_REFUSED", "issued in the future"),
    "without end": ({"exp": None}, "OIDC_TOKEN_REFUSED", "exp"),
    "another nonce": ({"nonce": "x" * 43}, "OIDC_TOKEN_REFUSED", "nonce"),
    "no nonce": ({"nonce": None}, "OIDC_TOKEN_REFUSED", "nonce"),
    "no subject": ({"sub": None}, "OIDC_TOKEN_REFUSED", "sub"),
    "no role": ({"groups": ["others"]}, "OIDC_ROLE_MISSING", "gives the user no role"),
    "no groups": ({"groups": None}, "OIDC_ROLE_MISSING", "gives the user no role"),
    "groups of another form": ({"groups": {"a": 1}}, "OIDC_ROLE_MISSING", "gives the user no role"),
    "no name": ({"preferred_username": None}, "OIDC_USER_REFUSED", "preferred_username"),
    "a name that is none": (
        {"preferred_username": "ann\r\nX-Evil: 1 <script>"},
        "OIDC_USER_REFUSED",
        "is not a valid name",
    ),
    "the name of a local user": ({"preferred_username": "root"}, "OIDC_USER_REFUSED", "already"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_token_must_not_say_is_a_page_with_a_code(there: Installation, case: str) -> None:
    there.editor.add_user("root", Grant(Role.ADMIN), WHO, password="correct horse battery")
    claims, code, word = REFUSED[case]
    there.provider.info = {"sub": "id-of-ann"}
    ann = there.browser()
    page = there.finished(ann, **claims)
    assert (page.status_code, code in page.text) == (403, True), page.text
    assert word in page.text
    assert "<script>" not in page.text
    assert "Sign in again" in page.text
    assert "roma_session" not in ann.cookies
    assert "roma_oidc" not in ann.cookies
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    assert list(there.editor.accounts().users) == ["root"]


def forged(there: Installation, answer: dict[str, str]) -> dict[str, str]:
    there.provider.published = [there.provider.key]
    there.provider.key = FOREIGN_KEY
    return answer


ANSWERS: dict[str, tuple[Callable[[Installation, dict[str, str]], dict[str, str]], str]] = {
    "without state": (lambda _, answer: {**answer, "state": ""}, "OIDC_ATTEMPT_UNKNOWN"),
    "a damaged state": (
        lambda _, answer: {**answer, "state": answer["state"][1:]},
        "OIDC_ATTEMPT_UNKNOWN",
    ),
    "the state of another browser": (
        lambda there, _: there.begun(there.browser()),
        "OIDC_ATTEMPT_UNKNOWN",
    ),
    "another provider": (
        lambda _, answer: {**answer, "iss": "https://evil.example"},
        "OIDC_TOKEN_REFUSED",
    ),
    "an unknown code": (lambda _, answer: {**answer, "code": "x"}, "OIDC_TOKEN_REFUSED"),
    "no code": (lambda _, answer: {**answer, "code": ""}, "OIDC_TOKEN_REFUSED"),
    "denied": (lambda _, answer: {**answer, "error": "access_denied"}, "OIDC_DENIED"),
    "the code of another sign-in": (
        lambda there, answer: {**answer, "code": there.begun(there.browser())["code"]},
        "OIDC_TOKEN_REFUSED",
    ),
    "a foreign signature": (forged, "OIDC_TOKEN_REFUSED"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_of_another_sign_in_opens_nothing(there: Installation, case: str) -> None:
    change, code = ANSWERS[case]
    ann = there.browser()
    page = ann.get("/login/oidc/callback", params=change(there, there.begun(ann)))
    assert (page.status_code, code in page.text) == (403, True), page.text
    assert "roma_session" not in ann.cookies
    assert not there.editor.accounts().users


def test_a_replayed_answer_opens_nothing(there: Installation) -> None:
    ann = there.browser()
    answer = there.begun(ann)
    kept = dict(ann.cookies)
    assert ann.get("/login/oidc/callback", params=answer).status_code == 303
    replayed = ann.get("/login/oidc/callback", params=answer)
    assert (replayed.status_code, "OIDC_ATTEMPT_UNKNOWN" in replayed.text) == (403, True)
    thief = there.browser()
    thief.cookies.update(kept)
    stolen = thief.get("/login/oidc/callback", params=answer)
    assert (stolen.status_code, "OIDC_TOKEN_REFUSED" in stolen.text) == (403, True)
    assert "roma_session" not in thief.cookies


def test_a_lost_role_ends_the_sessions_and_another_role_counts(there: Installation) -> None:
    first, again = there.browser(), there.browser()
    there.finished(first)
    assert first.get(SESSION).json()["name"] == "ann"
    there.finished(again, groups=["relay-viewers", "relay-values"])
    assert first.get(SESSION).json()["rights"] == ["read", "values"]
    there.finished(there.browser(), groups=[])
    assert first.get(READ).status_code == 401


def test_a_renamed_user_keeps_tokens_and_loses_sessions(there: Installation) -> None:
    first, again = there.browser(), there.browser()
    there.finished(first)
    made = there.editor.add_token("laptop", "ann", None, 1, WHO)
    led = there.finished(again, preferred_username="ann.new")
    assert led.headers["location"] == "../../users?done=renamed"
    assert "The provider reports a new name for you" in again.get("/users?done=renamed").text
    assert first.get(READ).status_code == 401
    with_token = {"Authorization": f"Bearer {made.secret}"}
    assert there.browser().get(SESSION, headers=with_token).json()["name"] == "ann.new"
    assert list(there.editor.accounts().users) == ["ann.new"]


def test_a_disabled_user_is_refused_and_stays_what_it_was(there: Installation) -> None:
    ann = there.browser()
    there.finished(ann)
    there.editor.set_disabled("ann", WHO, disabled=True)
    assert ann.get(READ).status_code == 401
    page = there.finished(there.browser(), groups=["relay-viewers"])
    assert (page.status_code, "User ann is disabled" in page.text) == (403, True)
    assert there.editor.accounts().users["ann"].grant.role is Role.OPERATOR


def test_a_wiped_zookeeper_ends_the_session_and_the_next_sign_in_heals(
    there: Installation,
) -> None:
    ann = there.browser()
    there.finished(ann)
    paths = Paths.of(there.settings.zookeeper, there.settings.installation)
    there.session.delete(paths.accounts)
    assert ann.get(READ).status_code == 401
    there.finished(ann)
    assert ann.get(SESSION).json()["name"] == "ann"


def test_an_admin_without_the_provider_does_not_know_its_sessions(there: Installation) -> None:
    ann = there.browser()
    there.finished(ann)
    api = there.settings.api.model_copy(update={"oidc": None})
    with admin_client(there.settings.model_copy(update={"api": api})) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin's ZooKeeper")
        base = str(admin.base_url)
        seen = httpx.get(f"{base}{READ}", cookies=dict(ann.cookies), trust_env=False, timeout=60)
        assert seen.status_code == 401
        assert httpx.get(f"{base}/login/oidc", trust_env=False, timeout=60).status_code == 404
    assert ann.get(SESSION).json()["name"] == "ann"


def test_claims_beside_the_token_and_a_new_key_are_read(there: Installation) -> None:
    there.provider.info = {"sub": "id-of-ann", "groups": ["relay-viewers"]}
    there.provider.key = RSAKey.generate_key(2048, {"kid": "two"})
    ann = there.browser()
    there.finished(ann, groups=None)
    assert ann.get(SESSION).json()["rights"] == ["read"]
    there.provider.info = {"sub": "another", "groups": ["relay-operators"]}
    page = there.finished(there.browser(), groups=None)
    assert (page.status_code, "describes another user" in page.text) == (403, True)


def test_a_provider_that_is_away_is_a_page_and_passwords_work(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.editor.add_user("root", Grant(Role.ADMIN), WHO, password="correct horse battery")
    there.provider.status = 503
    page = there.finished(there.browser())
    assert (page.status_code, "OIDC_PROVIDER_AWAY" in page.text) == (503, True)
    program = there.browser()
    signed_in = program.post(SESSION, json={"name": "root", "password": "correct horse battery"})
    assert signed_in.status_code == 200


def test_signing_out_offers_the_provider_too_and_the_password_page_is_the_provider_s(
    there: Installation,
) -> None:
    ann = there.browser()
    there.finished(ann)
    csrf = ann.get(SESSION).json()["csrf"]
    assert "Change my password" not in ann.get("/users").text
    changed = ann.put(
        f"{SESSION}/password",
        json={"present": "x", "wanted": "correct horse battery"},
        headers={"X-CSRF-Token": csrf},
    )
    assert (changed.status_code, changed.json()["code"]) == (409, "ACCOUNT_REFUSED")
    led = ann.post("/logout", data={"csrf": csrf})
    assert led.headers["location"] == "login?signed_out=1"
    page = ann.get("/login?signed_out=1").text
    assert f"{there.provider.url}/logout?client_id={CLIENT}" in page
    assert ann.get(READ).status_code == 401


def test_failed_sign_ins_from_one_address_lead_to_a_pause(admins: Installation) -> None:
    browser = admins.browser(1)
    params = {"state": "x", "code": "x"}
    pages = [browser.get("/login/oidc/callback", params=params) for _ in range(BURST + 1)]
    assert [each.status_code for each in pages] == [403] * BURST + [429]
    assert 0 < int(pages[-1].headers["retry-after"]) <= 31
    assert browser.get("/login/oidc").status_code == 429


def test_secrets_are_in_no_answer(there: Installation, capfd: pytest.CaptureFixture[str]) -> None:
    ann = there.browser()
    led = ann.get("/login/oidc")
    secret = ann.cookies["roma_oidc"]
    texts = [led.headers["location"], led.text]
    texts += [each.text for each in (ann.get("/login"), there.finished(ann), ann.get("/users"))]
    texts += [repr(there.settings), *capfd.readouterr()]
    assert not [each for each in texts if SECRET in each or secret in each]

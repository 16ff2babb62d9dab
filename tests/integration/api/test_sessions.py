"""Signing in on real ZooKeeper: cookies, forged requests, and what ends a session."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, process_time
from urllib.parse import urlsplit

import httpx
import pytest

from api.access.cookies import id_of
from api.access.login.throttle import ATTEMPTS
from deploy.embedded import ZooKeeper
from relay.deadline import Deadline
from relay.model.accounts import Grant, LoginSession, Role
from relay.operations import AccountEditor, Who
from relay.settings import RelaySettings
from relay.state import DocumentStore, LoginSessionStore, Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

PASSWORD = "correct horse battery"
READ = "/api/v1/placement"
DRAIN = "/api/v1/placement/maintenance/srv"
SESSION = "/api/v1/session"
HTML = {"Accept": "text/html"}
WHO = Who("test")
Browser = Callable[..., httpx.Client]


@pytest.fixture
def settings(zookeeper: ZooKeeper, fresh_name: FreshName) -> RelaySettings:
    return admin_settings(zookeeper.hosts, fresh_name("login"))


@pytest.fixture
def session(settings: RelaySettings) -> Iterator[Session]:
    opened = Session(settings.zookeeper)
    opened.start(Deadline.after(60))
    yield opened
    opened.stop()


@pytest.fixture
def editor(settings: RelaySettings, session: Session) -> Iterator[AccountEditor]:
    made = AccountEditor(settings, session)
    made.add_user("ann", Grant(Role.OPERATOR), WHO, password=PASSWORD)
    yield made
    made.close(0)


@pytest.fixture
def admin(settings: RelaySettings, editor: AccountEditor) -> Iterator[httpx.Client]:
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@pytest.fixture
def browser(admin: httpx.Client) -> Iterator[Browser]:
    opened: list[httpx.Client] = []

    def make(base: str = str(admin.base_url), **options: object) -> httpx.Client:
        made = httpx.Client(base_url=base, trust_env=False, timeout=60, **options)  # type: ignore[arg-type]
        opened.append(made)
        return made

    yield make
    for each in opened:
        each.close()


def sign_in(client: httpx.Client, name: str = "ann", password: str = PASSWORD) -> str:
    """Sign in and return the session's CSRF token."""
    answer = client.post(SESSION, json={"name": name, "password": password})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["csrf"])


def csrf_of(page: httpx.Response) -> str:
    return page.text.split('name="csrf" value="')[1].split('"')[0]


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "") if answer.content else ""


def test_a_session_has_the_rights_of_its_user_until_the_user_signs_out(browser: Browser) -> None:
    ann = browser()
    assert code(ann.get(READ)) == (401, "TOKEN_MISSING")
    csrf = sign_in(ann)
    assert ann.get(READ).status_code == 200
    shown = ann.get(SESSION).json()
    assert (shown["name"], shown["csrf"]) == ("ann", csrf)
    drained = ann.put(DRAIN, headers={"X-CSRF-Token": csrf, "X-Author": "bob"})
    assert drained.json()["maintenance"][0]["author"] == "ann"
    assert code(ann.put("/api/v1/instances/x/settings", headers={"X-CSRF-Token": csrf})) == (
        403,
        "RIGHT_MISSING",
    )
    secret = ann.cookies["roma_session"]
    assert ann.delete(SESSION, headers={"X-CSRF-Token": csrf}).status_code == 204
    assert "roma_session" not in ann.cookies
    stolen = browser(cookies={"roma_session": secret})
    assert code(stolen.get(READ)) == (401, "TOKEN_MISSING")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"X-CSRF-Token": ""}, 403),
        ({"X-CSRF-Token": "x" * 43}, 403),
        ({"X-CSRF-Token": "ä"}, 403),
        ({"X-CSRF-Token": "OTHER"}, 403),
        ({"X-CSRF-Token": "OWN"}, 200),
        ({"X-CSRF-Token": "OWN", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"X-CSRF-Token": "OWN", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"X-CSRF-Token": "OWN", "Sec-Fetch-Site": "same-site"}, 403),
        ({"X-CSRF-Token": "OWN", "Origin": "https://evil.example"}, 403),
        ({"X-CSRF-Token": "OWN", "Origin": "null"}, 403),
        ({"X-CSRF-Token": "OWN", "Origin": "http://["}, 403),
        ({"X-CSRF-Token": "OWN", "Origin": "SELF"}, 200),
        ({"Authorization": "Bearer the-token", "Origin": "https://evil.example"}, 200),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic YTpi"}, 403),
    ],
)
def test_a_change_needs_the_token_of_its_own_session(
    browser: Browser, headers: dict[str, str], status: int
) -> None:
    ann, other = browser(), browser()
    named = {"OWN": sign_in(ann), "OTHER": sign_in(other), "SELF": str(ann.base_url)}
    sent = [
        (name.encode(), named.get(value, value).encode("latin-1"))
        for name, value in headers.items()
    ]
    answer = ann.put(DRAIN, headers=sent)
    assert answer.status_code == status
    assert status != 403 or answer.json()["code"] == "FORGERY_REFUSED"


def test_a_form_carries_the_token_as_a_field(browser: Browser) -> None:
    ann = browser()
    csrf = sign_in(ann)
    assert ann.post("/logout", data={"csrf": "x"}).status_code == 403
    assert ann.post("/logout", content=f"csrf={csrf}".encode()).status_code == 403
    assert ann.get(READ).status_code == 200
    gone = ann.post("/logout", data={"csrf": csrf})
    assert (gone.status_code, gone.headers["location"]) == (303, "login")
    assert ann.get(READ).status_code == 401


def test_the_page_signs_in_without_script_and_leads_back(browser: Browser) -> None:
    ann = browser(headers=HTML)
    led = ann.get("/?group=a%20b&x=1")
    assert led.status_code == 303
    page = ann.get(led.headers["location"])
    assert page.status_code == 200
    form = {
        "csrf": csrf_of(page),
        "next": httpx.URL(led.headers["location"]).params["next"],
        "name": "ann",
    }
    wrong = ann.post("/login", data={**form, "password": "wrong"})
    assert wrong.status_code == 401
    assert "4 attempts are left before a pause of 5 minutes." in wrong.text
    right = ann.post("/login", data={**form, "password": PASSWORD})
    assert (right.status_code, right.headers["location"]) == (303, "./?group=a%20b&x=1")
    overview = ann.get(right.headers["location"])
    assert overview.status_code == 200
    assert "Signed in as ann" in overview.text


@pytest.mark.parametrize(
    "following", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nX-Evil: 1"]
)
def test_signing_in_leads_to_no_other_host(browser: Browser, following: str) -> None:
    ann = browser(headers=HTML)
    page = ann.get("/login", params={"next": following})
    form = {"csrf": csrf_of(page), "name": "ann", "password": PASSWORD, "next": following}
    led = ann.post("/login", data=form)
    assert (led.status_code, led.headers["location"]) == (303, "./")
    assert "x-evil" not in led.headers
    assert (
        urlsplit(str(ann.get(led.headers["location"]).url)).netloc == ann.base_url.netloc.decode()
    )


def test_another_site_cannot_sign_a_browser_in(browser: Browser) -> None:
    victim, attacker = browser(headers=HTML), browser(headers=HTML)
    foreign = csrf_of(attacker.get("/login"))
    victim.get("/login")
    form = {"name": "ann", "password": PASSWORD, "next": "/"}
    for data in (form, {**form, "csrf": ""}, {**form, "csrf": foreign}):
        refused = victim.post("/login", data=data)
        assert refused.status_code == 403
        assert "roma_session" not in victim.cookies
    crossed = victim.post(
        SESSION,
        content=json.dumps({"name": "ann", "password": PASSWORD}),
        headers={"Origin": "https://evil.example", "Content-Type": "text/plain"},
    )
    assert code(crossed) == (403, "FORGERY_REFUSED")


def test_a_session_is_always_new(browser: Browser) -> None:
    ann = browser(cookies={"roma_session": "A" * 43})
    sign_in(ann)
    first = ann.cookies.get("roma_session", domain="127.0.0.1") or ""
    assert first != "A" * 43
    fixed = browser(cookies={"roma_session": "A" * 43})
    assert fixed.get(READ).status_code == 401
    again = browser(cookies={"roma_session": first})
    sign_in(again)
    assert browser(cookies={"roma_session": first}).get(READ).status_code == 401


def test_cookies_are_closed_to_scripts_and_other_sites(browser: Browser) -> None:
    ann = browser(headers=HTML)
    login = ann.get("/login").headers["set-cookie"]
    assert login.startswith("roma_login=")
    assert "HttpOnly" in login
    assert "SameSite=strict" in login
    answer = ann.post(SESSION, json={"name": "ann", "password": PASSWORD})
    given = answer.headers["set-cookie"]
    assert given.startswith("roma_session=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(given.split("; "))
    assert "Domain" not in given
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("behind_proxy", "proxies", "secure"),
    [(True, ["127.0.0.1"], True), (True, ["10.0.0.9"], False), (False, ["127.0.0.1"], False)],
)
def test_behind_a_trusted_proxy_with_tls_cookies_are_secure(
    settings: RelaySettings,
    editor: AccountEditor,
    browser: Browser,
    behind_proxy: bool,
    proxies: list[str],
    secure: bool,
) -> None:
    api = settings.api.model_copy(update={"behind_proxy": behind_proxy, "proxies": tuple(proxies)})
    with admin_client(settings.model_copy(update={"api": api})) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        proxied = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
        ann = browser(str(client.base_url), headers=proxied)
        answer = ann.post(SESSION, json={"name": "ann", "password": PASSWORD})
        given = answer.headers["set-cookie"]
        assert given.startswith("__Host-roma_session=" if secure else "roma_session=")
        assert ("Secure" in given) == secure
        name, _, value = given.split(";")[0].partition("=")
        for sent, counts in ((name, True), ("roma_session", not secure)):
            seen = httpx.get(
                f"{client.base_url}{READ}",
                headers={**proxied, "Cookie": f"{sent}={value}"},
                trust_env=False,
            )
            assert seen.status_code == (200 if counts else 401)


def disable_for_a_moment(editor: AccountEditor) -> None:
    editor.set_disabled("ann", WHO, disabled=True)
    editor.set_disabled("ann", WHO, disabled=False)


ENDS: dict[str, Callable[[AccountEditor], object]] = {
    "disabled": lambda editor: editor.set_disabled("ann", WHO, disabled=True),
    "disabled and enabled": disable_for_a_moment,
    "another password": lambda editor: editor.set_password("ann", "another long one", WHO),
    "no password": lambda editor: editor.remove_password("ann", WHO),
    "signed out everywhere": lambda editor: editor.end_sessions("ann"),
}


@pytest.mark.parametrize("act", ENDS)
def test_what_ends_sessions_counts_at_once_at_every_admin(
    settings: RelaySettings, browser: Browser, editor: AccountEditor, act: str
) -> None:
    with admin_client(settings) as second:
        wait_until(lambda: second.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        ann = browser()
        sign_in(ann)
        there = browser(str(second.base_url), cookies=dict(ann.cookies))
        assert [each.get(READ).status_code for each in (ann, there)] == [200, 200]
        ENDS[act](editor)
        assert [each.get(READ).status_code for each in (ann, there)] == [401, 401]


def test_a_role_that_is_taken_counts_at_once(browser: Browser, editor: AccountEditor) -> None:
    ann = browser()
    csrf = sign_in(ann)
    assert ann.put(DRAIN, headers={"X-CSRF-Token": csrf}).status_code == 200
    editor.set_grant("ann", Grant(Role.VIEWER), WHO)
    refused = ann.put(DRAIN, headers={"X-CSRF-Token": csrf})
    assert code(refused) == (403, "RIGHT_MISSING")


@pytest.mark.parametrize("minutes", [-13 * 60, 24 * 60])
def test_a_session_of_another_time_is_refused(
    browser: Browser, settings: RelaySettings, session: Session, minutes: int
) -> None:
    ann = browser()
    sign_in(ann)
    path = Paths.of(settings.zookeeper, settings.installation).login_session(
        id_of(ann.cookies["roma_session"])
    )
    fields = json.loads(session.get(path).value)
    fields["created_ms"] += minutes * 60_000
    fields["seen_ms"] += max(0, minutes) * 60_000
    session.put(path, json.dumps(fields).encode())
    assert ann.get(READ).status_code == 401
    session.put(path, b"{")
    assert ann.get(READ).status_code == 401


def test_an_empty_zookeeper_and_a_restored_backup_open_nothing(
    browser: Browser, settings: RelaySettings, session: Session, editor: AccountEditor
) -> None:
    ann = browser()
    sign_in(ann)
    paths = Paths.of(settings.zookeeper, settings.installation)
    store = DocumentStore(session, paths, settings.installation)
    backup = store.take()
    assert not [each for each in backup.nodes if each.startswith("sessions")]
    editor.set_password("ann", "another long one", WHO)
    store.put(backup, over_present=True)
    assert ann.get(READ).status_code == 401  # the session ended with the change of the password
    sign_in(ann)  # the backup has the older password
    session.delete(paths.accounts)
    assert ann.get(READ).status_code == 401
    refused = ann.post(SESSION, json={"name": "ann", "password": PASSWORD})
    assert code(refused) == (401, "LOGIN_REFUSED")
    editor.add_user("ann", Grant(Role.ADMIN), WHO, password=PASSWORD)
    assert ann.get(READ).status_code == 401  # a user of the same name is another user


def test_unknown_users_and_wrong_passwords_take_the_same_time(
    browser: Browser, editor: AccountEditor
) -> None:
    editor.add_user("tokens-only", Grant(Role.VIEWER), WHO)
    editor.add_user("gone", Grant(Role.VIEWER), WHO, password=PASSWORD)
    editor.set_disabled("gone", WHO, disabled=True)
    client, took = browser(), {}
    for name, password in (
        ("ann", "wrong"),
        ("nobody", PASSWORD),
        ("tokens-only", ""),
        ("gone", PASSWORD),
    ):
        best = 9.0
        for _ in range(3):
            began = process_time()
            answer = client.post(SESSION, json={"name": name, "password": password})
            best = min(best, process_time() - began)
            assert code(answer) == (401, "LOGIN_REFUSED")
        took[name] = best
    assert max(took.values()) < 3 * min(took.values()), took


def test_wrong_passwords_lead_to_a_pause_for_one_address(browser: Browser) -> None:
    client = browser()
    answers = [
        client.post(SESSION, json={"name": "ann", "password": f"wrong {number}"})
        for number in range(ATTEMPTS + 1)
    ]
    assert [each.status_code for each in answers] == [401] * ATTEMPTS + [429]
    assert 290 < int(answers[-1].headers["retry-after"]) < 305
    right = client.post(SESSION, json={"name": "ann", "password": PASSWORD})
    assert code(right) == (429, "LOGIN_PAUSED")


def test_fifty_sign_ins_at_once_verify_five_passwords(browser: Browser) -> None:
    base = str(browser().base_url)

    def attempt(number: int) -> int:
        answer = httpx.post(
            f"{base}{SESSION}",
            json={"name": "ann", "password": f"wrong {number}"},
            trust_env=False,
            timeout=60,
        )
        return answer.status_code

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(attempt, range(50)))
    assert (answers.count(401), answers.count(429)) == (ATTEMPTS, 50 - ATTEMPTS)


def test_large_and_broken_bodies_are_refused_before_a_password_is_verified(
    browser: Browser,
) -> None:
    client = browser()
    large = client.post(SESSION, json={"name": "ann", "password": "x" * 20_000})
    assert code(large) == (413, "BODY_TOO_LARGE")
    form = client.post("/login", data={"name": "ann", "password": "x" * 20_000})
    assert form.status_code == 413
    for body in (b"", b"{", b"[]", b'{"name": "ann"}', b'{"name": 7, "password": null}'):
        answer = client.post(SESSION, content=body)
        assert code(answer)[0] == 422


def test_the_oldest_of_too_many_sessions_ends(
    browser: Browser, settings: RelaySettings, session: Session
) -> None:
    store = LoginSessionStore(session, Paths.of(settings.zookeeper, settings.installation))
    first = browser()
    sign_in(first)
    mine = store.find(id_of(first.cookies["roma_session"]))
    assert mine is not None
    for number in range(19):
        store.open(
            f"other{number}",
            LoginSession(
                "ann", mine.session.stamp, mine.session.created_ms + 1, mine.session.seen_ms
            ),
        )
    sign_in(browser())
    assert first.get(READ).status_code == 401
    assert len(store.of_user("ann")) == 20


def ended_within(stream: httpx.Response, end: Callable[[], object], seconds: float = 30) -> None:
    """Read a stream's first line, end what opened it, and wait for its last line."""
    lines = stream.iter_lines()
    assert next(lines).startswith(": ")
    end()
    began = perf_counter()
    assert not [line for line in lines if line.startswith("data: ")]
    assert perf_counter() - began < seconds


@pytest.mark.parametrize("way", ["signed out", "disabled", "a new password"])
def test_a_stream_of_events_ends_with_what_opened_it(
    browser: Browser, editor: AccountEditor, way: str
) -> None:
    ann = browser()
    csrf = sign_in(ann)
    ends: dict[str, Callable[[], object]] = {
        "signed out": lambda: browser(cookies=dict(ann.cookies)).delete(
            SESSION, headers={"X-CSRF-Token": csrf}
        ),
        "disabled": lambda: editor.set_disabled("ann", WHO, disabled=True),
        "a new password": lambda: editor.set_password("ann", f"{PASSWORD}2", WHO),
    }
    with ann.stream("GET", "/api/v1/events") as stream:
        ended_within(stream, ends[way])


def test_a_stream_of_events_ends_with_its_token(browser: Browser, editor: AccountEditor) -> None:
    made = editor.add_token("laptop", "ann", None, 1, WHO)
    program = browser(headers={"Authorization": f"Bearer {made.secret}"})
    with program.stream("GET", "/api/v1/events") as stream:
        ended_within(stream, lambda: editor.revoke_token("laptop", WHO))


def test_the_form_offers_reading_without_a_session_only_where_there_are_no_users(
    settings: RelaySettings, session: Session
) -> None:
    editor = AccountEditor(settings, session)
    with admin_client(settings) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        offer = "continue without signing in"
        assert offer in admin.get("/login").text
        assert "roma users add NAME" in admin.get("/login").text
        editor.add_user("ann", Grant(Role.OPERATOR), WHO, password=PASSWORD)
        assert offer not in admin.get("/login").text
    editor.close(0)

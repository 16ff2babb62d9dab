"""Users and tokens on a real ZooKeeper: made by the command line, asked for by the admin."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import tomli_w
from typer.testing import CliRunner, Result

from deploy.embedded import ZooKeeper
from relay.cli import app
from relay.cli.accounts import editor
from relay.deadline import Deadline
from relay.passwords import verify
from relay.settings import RelaySettings
from relay.state import DocumentStore, Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

Roma = Callable[..., Result]
READ = "/api/v1/placement"
PASSWORD = "correct horse battery"
DRAIN = "/api/v1/placement/maintenance/srv"


@pytest.fixture(autouse=True)
def no_wait_for_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor, "AUDIT_SECONDS", 0.0)


@pytest.fixture
def settings(zookeeper: ZooKeeper, fresh_name: FreshName) -> RelaySettings:
    return admin_settings(zookeeper.hosts, fresh_name("users"))


@pytest.fixture
def roma(settings: RelaySettings, tmp_path: Path) -> Roma:
    config = tmp_path / "relay.toml"
    document = {
        "installation": settings.installation,
        "zookeeper": {"hosts": settings.zookeeper.hosts},
        "kafka": {"bootstrap_servers": "127.0.0.1:1"},
    }
    config.write_text(tomli_w.dumps(document), encoding="utf-8")

    def run(*arguments: str, typed: str | None = None) -> Result:
        return CliRunner().invoke(app, [*arguments, "--config", str(config)], input=typed)

    return run


@pytest.fixture
def admin(settings: RelaySettings) -> Iterator[httpx.Client]:
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@pytest.fixture
def session(settings: RelaySettings) -> Iterator[Session]:
    opened = Session(settings.zookeeper)
    opened.start(Deadline.after(60))
    yield opened
    opened.stop()


def made(roma: Roma, *arguments: str) -> str:
    """Make a token and return its secret."""
    result = roma("tokens", "add", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return str(json.loads(result.stdout)["token"])


def status(
    admin: httpx.Client, secret: str, method: str = "GET", path: str = READ
) -> tuple[int, str]:
    """The answer's status and error code; without a token where `secret` is empty."""
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    answer = httpx.request(
        method, f"{admin.base_url}{path}", headers=headers, trust_env=False, timeout=60
    )
    return answer.status_code, answer.json().get("code", "")


def test_a_token_opens_what_its_role_may_do_until_it_ends(roma: Roma, admin: httpx.Client) -> None:
    assert status(admin, "") == (200, "")  # before the first user everybody reads
    assert roma("users", "add", "ann", "--role", "operator").exit_code == 0
    assert status(admin, "") == (401, "TOKEN_MISSING")
    assert status(admin, "guessed") == (401, "TOKEN_WRONG")
    viewer, operator = (
        made(roma, "watch", "--user", "ann", "--role", "viewer"),
        made(roma, "act", "--user", "ann"),
    )
    assert status(admin, viewer) == status(admin, operator) == (200, "")
    assert status(admin, viewer, "PUT", DRAIN) == (403, "RIGHT_MISSING")
    drained = admin.put(
        DRAIN,
        headers={"Authorization": f"Bearer {operator}", "X-Author": "bob", "X-Comment": "why"},
    )
    assert [each["author"] for each in drained.json()["maintenance"]] == [
        "ann"
    ]  # the name is the token's, whatever the client states
    assert status(admin, operator, "GET", "/api/v1/instances/x/dead-letters/1/value") == (
        403,
        "RIGHT_MISSING",
    )
    assert roma("users", "set-role", "ann", "--role", "viewer").exit_code == 0
    assert status(admin, operator, "DELETE", DRAIN) == (403, "RIGHT_MISSING")
    assert roma("tokens", "revoke", "watch").exit_code == 0
    assert status(admin, viewer) == (401, "TOKEN_WRONG")
    assert roma("users", "disable", "ann").exit_code == 0
    assert status(admin, operator) == (401, "TOKEN_WRONG")
    assert admin.get(READ).status_code == 200  # api.token holds all rights, as before


def test_an_empty_zookeeper_opens_nothing(
    roma: Roma, admin: httpx.Client, settings: RelaySettings, session: Session
) -> None:
    roma("users", "add", "ann", "--role", "viewer")
    assert status(admin, "") == (401, "TOKEN_MISSING")
    session.delete(Paths.of(settings.zookeeper, settings.installation).accounts)
    assert status(admin, "") == (401, "TOKEN_MISSING")
    never = settings.model_copy(
        update={"api": settings.api.model_copy(update={"anonymous_reads": "never"})}
    )
    with admin_client(never) as restarted:
        wait_until(
            lambda: restarted.get("/readyz").status_code == 200, "the admin to reach ZooKeeper"
        )
        assert status(restarted, "") == (401, "TOKEN_MISSING")
        assert restarted.get(READ).status_code == 200


def test_a_damaged_document_opens_nothing(
    roma: Roma, admin: httpx.Client, settings: RelaySettings, session: Session
) -> None:
    session.create(Paths.of(settings.zookeeper, settings.installation).accounts, b"{}")
    assert status(admin, "") == status(admin, "guessed") == (502, "ZOOKEEPER_REFUSED")
    assert admin.get(READ).status_code == 200
    refused = roma("users", "add", "ann", "--role", "viewer")
    assert refused.exit_code == 2
    assert "roma restore" in refused.stderr


def test_users_and_tokens_are_listed_and_part_of_a_backup(
    roma: Roma, settings: RelaySettings, session: Session
) -> None:
    assert roma("users", "list").stdout == "There are no users.\n"
    roma("users", "add", "ann", "--role", "admin", "--values")
    secret = made(roma, "ci", "--user", "ann", "--role", "editor", "--days", "0")
    assert roma("users", "list").stdout == "ann  admin with values of rows\n"
    assert roma("tokens", "list").stdout == f"ci  ann  …{secret[-4:]}  editor  never expires\n"
    assert json.loads(roma("tokens", "list", "--json").stdout)[0]["last_four"] == secret[-4:]
    paths = Paths.of(settings.zookeeper, settings.installation)
    kept = DocumentStore(session, paths, settings.installation).take().nodes
    assert secret.encode() not in kept["accounts"]
    session.delete(paths.accounts)
    store = DocumentStore(session, paths, settings.installation)
    store.put(type(store.take())(settings.installation, 0, kept), over_present=True)
    assert roma("users", "list").stdout == "ann  admin with values of rows\n"
    again = roma("users", "add", "ann", "--role", "viewer")
    assert (again.exit_code, "ACCOUNT_REFUSED" in again.stderr) == (1, True)


def test_passwords_are_typed_or_piped_and_stored_as_hashes(
    roma: Roma, settings: RelaySettings, session: Session
) -> None:
    accounts = Paths.of(settings.zookeeper, settings.installation).accounts
    roma("users", "add", "ann", "--role", "admin")
    assert json.loads(session.get(accounts).value)["format"] == 1
    typed = roma("users", "password", "ann", typed=f"{PASSWORD}\n{PASSWORD}\n")
    assert (typed.exit_code, PASSWORD in typed.output) == (0, False)
    stored = json.loads(session.get(accounts).value)
    assert stored["format"] == 2
    assert verify(PASSWORD, stored["users"][0]["password"])
    piped = ("users", "add", "bob", "--role", "viewer", "--password-from-stdin")
    assert roma(*piped, typed=f"{PASSWORD}2\n").exit_code == 0
    asked = ("users", "add", "eve", "--role", "viewer", "--password")
    assert roma(*asked, typed=f"{PASSWORD}\n{PASSWORD}\n").exit_code == 0
    users = json.loads(roma("users", "list", "--json").stdout)
    assert [each["has_password"] for each in users] == [True, True, True]
    for name in ("ann", "bob", "eve"):
        assert roma("users", "password", name, "--remove").exit_code == 0
    assert json.loads(session.get(accounts).value)["format"] == 1


def test_a_restore_names_what_comes_back_before_it_asks(
    roma: Roma, settings: RelaySettings, session: Session, tmp_path: Path
) -> None:
    roma("users", "add", "ann", "--role", "admin")
    roma("users", "add", "bob", "--role", "viewer")
    secret = made(roma, "ci", "--user", "ann", "--role", "editor")
    backup = tmp_path / "backup"
    assert roma("backup", str(backup)).exit_code == 0
    for change in (
        ("tokens", "revoke", "ci"),
        ("users", "set-role", "bob", "--role", "operator"),
        ("users", "disable", "ann"),
        ("users", "add", "eve", "--role", "viewer"),
    ):
        assert roma(*change).exit_code == 0
    restore = ("restore", str(backup), "--over-present", "--yes", "another name")
    expected = (
        "User ann changes: enabled again.",
        "User bob changes: operator becomes viewer.",
        "User eve is removed.",
        f"Token ci of ann (…{secret[-4:]}) comes back: editor.",
    )
    asked = roma(*restore)
    assert asked.exit_code == 1
    assert "\n".join(expected) in asked.stdout
    assert "There is no token" in roma("tokens", "revoke", "ci").stderr  # nothing was written
    accounts = Paths.of(settings.zookeeper, settings.installation).accounts
    session.put(accounts, b"damaged")
    damaged = roma(*restore).stdout
    assert "cannot be read" in damaged
    assert "User ann comes back: admin." in damaged
    session.delete(accounts)
    assert "User bob comes back: viewer." in roma(*restore).stdout


@pytest.mark.parametrize(
    ("arguments", "typed", "code"),
    [
        (("password", "ann", "--password-from-stdin"), "short\n", 1),
        (("password", "ann", "--password-from-stdin"), "", 2),
        (("password", "ann", "--password-from-stdin"), "I am ann, am I not\n", 1),
        (("password", "bob", "--password-from-stdin"), f"{PASSWORD}\n", 1),
        (("password", "ann"), f"{PASSWORD}\nanother one here\n", 1),
        (("add", "eve", "--role", "viewer", "--password-from-stdin"), "short\n", 1),
        (("add", "eve", "--role", "viewer", "--password"), f"{PASSWORD}\nanother one here\n", 1),
        (("add", "eve", "--role", "viewer", "--password"), "short\nshort\n", 1),
        (("password", "ann", PASSWORD), "", 2),
    ],
)
def test_a_refused_password_changes_nothing(
    roma: Roma, arguments: tuple[str, ...], typed: str, code: int
) -> None:
    roma("users", "add", "ann", "--role", "admin")
    before = roma("users", "list", "--json").stdout
    refused = roma("users", *arguments, typed=typed)
    assert (refused.exit_code, refused.exit_code and "short\n" in refused.output) == (code, False)
    assert roma("users", "list", "--json").stdout == before

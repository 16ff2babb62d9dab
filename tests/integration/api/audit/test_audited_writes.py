"""Each write of endpoints, pages and commands leaves its entry in the audit trail.

A write that is in no table fails here: carry it out below, or name the test that does.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import tomli_w
from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner

from api.access.endpoints import RIGHTS
from deploy.embedded import Kafka, ZooKeeper
from relay.audit import PAGE, REST, AuditEntry, AuditTrail
from relay.cli import app
from relay.settings import RelaySettings
from relay.state import FailoverView, InstanceStatus, InstanceStore, Paths, ServerView
from tests.servers.fixtures import FreshName
from tests.support.audited_writes import (
    COMMANDS_PROVED,
    COMMANDS_WITHOUT_EFFECT,
    ENDPOINTS_PROVED_ELSEWHERE,
    ENDPOINTS_WITHOUT_EFFECT,
)
from tests.support.page_clients import announce_two_relays, csrf_of
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

ROOT: Final = Path(__file__).parents[4]
PASSWORD: Final = "correct horse battery"
OTHER: Final = "another long phrase"
LOST: Final = "11111111-1111-1111-1111-111111111111:8-10"
SOURCE: Final = {"host": "h", "user": "u", "server_id": 1, "password": "s3cr3t"}
TOPICS: Final = [{"logicDb": "a", "topic": "t"}]
ANY: Final = {"If-Match": "*"}
PRESENT: Final = "present"
"""Stands for the state of the instance's settings when the call is made."""
CONFIGS: Final = "/api/v1/configs/{group}"
FLOW: Final = {"paused": False, "rows_per_second": 5, "bytes_per_second": None}
SURE: Final = {"source": "", "confirm": "shop", "comment": "drill"}


@dataclass(frozen=True, slots=True)
class Call:
    """A write: its endpoint, the act that it must leave, its body, and what it is called with.

    A `{number}` is that of the newest request to copy tables.
    """

    endpoint: str
    act: str
    json: object = None
    form: dict[str, str] | None = None
    names: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)


def calls() -> list[Call]:
    """What the holder of `api.token` writes, in an order in which each call finds what it needs."""
    group = {"group": "ROMA_GROUP"}
    configs = [
        Call(f"PUT {CONFIGS}", "mapping.saved", {"com.pajk.Roma.topics": TOPICS}, names=group),
        Call(
            f"PUT {CONFIGS}/{{data_id}}",
            "mapping.saved",
            [{"logicDb": "a", "realDbs": "x"}],
            names={**group, "data_id": "com.pajk.Roma.dbs"},
            headers={"If-None-Match": "*"},
        ),
        Call("POST /api/v1/mappings/rollback", "mapping.rolled-back", {"set": 1}, headers=ANY),
        Call("POST /mappings/rollback", "mapping.rolled-back", form={"set": "2", "base": "3"}),
        Call(
            "POST /mappings/save",
            "mapping.saved",
            form={"base": "4", "topics": '[{"logicDb": "b", "topic": "b"}]'},
        ),
    ]
    settings = "/api/v1/instances/{name}/settings"
    new = {"name": "new"}
    instances = [
        Call(f"PUT {settings}", "instance.saved", {"source": SOURCE}, names=new),
        Call(f"DELETE {settings}", "instance.removed", names=new, headers=ANY),
        Call(
            "POST /instance-settings",
            "instance.saved",
            form={"name": "new", "document": json.dumps({"source": SOURCE})},
        ),
        Call(
            "POST /instance-settings/remove",
            "instance.removed",
            form={"name": "new", "state": PRESENT, "confirm": "new", "comment": "drill"},
        ),
    ]
    return [*configs, *instances, *_operations(), *_copies(), *_hidden(), *_accounts()]


def _operations() -> list[Call]:
    own, api = "/instances/{name}", "/api/v1/instances/{name}"
    moves, servers = "/api/v1/placement/moves/{instance}", "/api/v1/placement/maintenance/{server}"
    shop = {"instance": "shop"}
    placement = [
        Call(f"PUT {moves}", "instance.moved", {"to": "r2"}, names=shop),
        Call(f"DELETE {moves}", "move.withdrawn", names=shop),
        Call(f"POST {own}/move", "instance.moved", form={"to": "r2"}),
        Call(f"POST {own}/withdraw-move", "move.withdrawn", form={}),
        Call(f"PUT {servers}", "maintenance.begun"),
        Call(f"DELETE {servers}", "maintenance.ended"),
        Call("POST /servers/{server}/maintenance", "maintenance.begun", form={}),
        Call("POST /servers/{server}/end-maintenance", "maintenance.ended", form={}),
    ]
    flow = [
        Call(f"PUT {api}/flow", "flow.set", FLOW),
        *(Call(f"POST {api}/{act}", "flow.set") for act in ("pause", "resume")),
        *(Call(f"POST {own}/{act}", "flow.set", form={}) for act in ("pause", "resume")),
        Call(f"POST {own}/throttle", "flow.set", form={"rows": "8", "bytes": ""}),
        Call(f"POST {api}/start", "instance.started"),
        Call(f"POST {own}/start", "instance.started", form={}),
    ]
    orders = [("hold", {}), ("switch", {"to": "standby"}), ("accept-loss", {"gtids": LOST})]
    failover = [
        *(
            Call(f"POST {api}/failover/{act}", f"failover.{act}", body)
            for act, body in (*orders, ("release", {}))
        ),
        *(
            Call(f"POST {own}/failover/{act}", f"failover.{act}", form={**SURE, **body})
            for act, body in (*orders, ("release", {}))
        ),
    ]
    return [*placement, *flow, *failover]


def _copies() -> list[Call]:
    own, api = "/instances/{name}/copies", "/api/v1/snapshots"
    acts = (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled"))
    return [
        Call(f"POST {api}", "snapshot.started", {"tables": ["a.t"]}),
        *(Call(f"POST {api}/{{number}}/{verb}", f"snapshot.{act}") for verb, act in acts),
        Call(f"POST {own}", "snapshot.started", form={"tables": "a.u"}),
        *(Call(f"POST {own}/{{number}}/{verb}", f"snapshot.{act}", form={}) for verb, act in acts),
        Call(f"POST {api}/repair", "snapshot.started", {"table": "a.x", "keys": ["7"]}),
        Call(
            "POST /instances/{name}/repair",
            "snapshot.started",
            form={"table": "a.y", "keys": "7\n8"},
        ),
    ]


def _hidden() -> list[Call]:
    table, page = "crm.lead", "/mappings/unmapped"
    hidden, listed = "unmapped.hidden", "unmapped.unhidden"
    return [
        Call("PUT /api/v1/unmapped/hidden", hidden, query={"table": table}),
        Call("DELETE /api/v1/unmapped/hidden", listed, query={"table": table}),
        Call(f"POST {page}/hide", hidden, form={"name": table}),
        Call(f"POST {page}/unhide", listed, form={"name": table}),
    ]


def _accounts() -> list[Call]:
    ann, ci = {"name": "ann"}, {"name": "ci"}
    user = {"role": "viewer", "password": PASSWORD}
    own = {"owner": "ann", "role": "viewer"}
    return [
        Call("PUT /api/v1/users/{name}", "user.added", user, names=ann),
        Call("PUT /api/v1/tokens/{name}", "token.added", own, names=ci),
        Call("DELETE /api/v1/tokens/{name}", "token.revoked", names=ci),
        Call("POST /users", "user.added", form={"name": "ben", "role": "viewer", "state": ""}),
        Call(
            "POST /users/tokens",
            "token.added",
            form={"name": "cd", "owner": "ann", "role": "viewer", "days": "7"},
        ),
        Call("POST /users/tokens/revoke", "token.revoked", form={"name": "cd"}),
    ]


OWN_WRITES: Final = {
    "POST /api/v1/session": ("session.opened", "session.refused"),
    "PUT /api/v1/session/password": ("user.password_set",),
    "DELETE /api/v1/session": ("session.closed",),
    "POST /login": ("session.opened", "session.refused"),
    "POST /users/me/password": ("user.password_set",),
    "POST /users/me/sign-out": ("session.closed",),
    "POST /logout": ("session.closed",),
}
"""What a user does with the own session, in `sign_in_and_out`."""
COMMANDS: Final = {
    "instance pause": ("flow.set", ["shop"]),
    "instance resume": ("flow.set", ["shop"]),
    "instance throttle": ("flow.set", ["shop", "--rows", "9"]),
    "instance start": ("instance.started", ["shop"]),
    "users add": ("user.added", ["eve", "--role", "viewer"]),
    "users set-role": ("user.changed", ["eve", "--role", "editor"]),
    "users disable": ("user.disabled", ["eve"]),
    "users enable": ("user.enabled", ["eve"]),
    "users password": ("user.password_set", ["eve", "--password-from-stdin"]),
    "tokens add": ("token.added", ["cli", "--user", "eve"]),
    "tokens revoke": ("token.revoked", ["cli"]),
    "snapshot start": ("snapshot.started", ["a.v"]),
    "snapshot pause": ("snapshot.paused", ["NUMBER"]),
    "snapshot resume": ("snapshot.running", ["NUMBER"]),
    "snapshot cancel": ("snapshot.cancelled", ["NUMBER"]),
    "snapshot repair": ("snapshot.started", ["a.w", "--keys", "7"]),
}


def test_each_write_endpoint_is_in_a_table() -> None:
    writes = {each for each in RIGHTS if not each.startswith("GET ")}
    tables = [
        {each.endpoint for each in calls()},
        set(OWN_WRITES),
        set(ENDPOINTS_PROVED_ELSEWHERE),
        set(ENDPOINTS_WITHOUT_EFFECT),
    ]
    assert writes == set[str]().union(*tables)
    assert sum(map(len, tables)) == len(writes), "an endpoint is in two tables"


def test_each_command_is_in_a_table() -> None:
    tables = [set(COMMANDS), set(COMMANDS_PROVED), set(COMMANDS_WITHOUT_EFFECT)]
    every = set(_commands(app))
    assert every == set[str]().union(*tables)
    assert sum(map(len, tables)) == len(every), "a command is in two tables"


@pytest.mark.parametrize(
    "proved",
    sorted(
        {*ENDPOINTS_PROVED_ELSEWHERE.values(), *(each for (each,) in COMMANDS_PROVED.values())},
        key=str,
    ),
    ids=lambda each: f"{each.act}-{Path(each.by).stem}",
)
def test_the_named_test_looks_the_act_up(proved: Any) -> None:
    assert f'"{proved.act}"' in (ROOT / proved.by).read_text()


def _commands(typer: Typer) -> Iterator[str]:
    def walk(command: Any, path: str) -> Iterator[str]:
        for name, each in getattr(command, "commands", {}).items():
            if hasattr(each, "commands"):
                yield from walk(each, f"{path}{name} ")
            else:
                yield f"{path}{name}"

    yield from walk(get_command(typer), "")


@pytest.fixture(scope="module")
def settings(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> RelaySettings:
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    shop = {"name": "shop", "source": {"host": "m", "user": "u", "standby": {"host": "s"}}}
    return admin_settings(zookeeper.hosts, fresh_name("written"), kafka=brokers, instances=[shop])


@pytest.fixture(scope="module")
def admin(settings: RelaySettings, zookeeper: ZooKeeper) -> Iterator[httpx.Client]:
    paths = Paths.of(settings.zookeeper, settings.installation)
    with session_with(zookeeper.hosts) as session, admin_client(settings) as client:
        announce_two_relays(session, paths)
        store = InstanceStore(session, paths)
        store.put_status(InstanceStatus("shop", "RUNNING", relay="r1"))
        servers = (ServerView("master", "m:1"), ServerView("standby", "s:1", lacking=LOST))
        store.failover.put_view("shop", FailoverView(followed="master", servers=servers))
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


def entries_of(settings: RelaySettings, write: Callable[[], int]) -> list[AuditEntry]:
    """Return the entries that `write` left; it returns how many there must be."""
    trail = AuditTrail(settings.kafka, settings.installation)
    before = len(trail.entries(1000))
    wanted = before + write()
    wait_until(lambda: len(trail.entries(1000)) >= wanted, "the entries")
    return list(trail.entries(1000)[: len(trail.entries(1000)) - before])


def test_each_call_of_an_administrator_leaves_its_act(
    admin: httpx.Client, settings: RelaySettings
) -> None:
    wanted = calls()

    def write() -> int:
        for each in wanted:
            _carry_out(admin, each)
        return len(wanted)

    entries = entries_of(settings, write)
    assert Counter((each.act, each.via) for each in entries) == Counter(
        (each.act, REST if " /api/" in each.endpoint else PAGE) for each in wanted
    )
    for each in entries:
        assert each.actor in {"api.token", "ann"}, each
        assert each.before or each.after, each
        if each.act in ("instance.started", "user.password_set"):
            assert each.before, each
            assert each.after, each
        assert "s3cr3t" not in str(each)
        assert PASSWORD not in str(each)


def _carry_out(admin: httpx.Client, call: Call) -> None:
    method, path = call.endpoint.split(" ")
    names = {"name": "shop", "instance": "shop", "server": "s1", **call.names}
    headers = {"X-Author": "ann", "X-Comment": "why", **call.headers}
    form = None if call.form is None else {"comment": "why", **call.form}
    if form is not None and form.get("state") == PRESENT:
        form["state"] = admin.get(f"/api/v1/instances/{form['name']}/settings").headers["ETag"][
            1:-1
        ]
    if "{number}" in path:
        names["number"] = _newest_copy(admin)
    answer = admin.request(
        method,
        path.format(**names),
        json=call.json,
        data=form,
        headers=headers,
        params=call.query or None,
    )
    assert answer.status_code < 400, (call, answer.text[-3000:])


def _newest_copy(admin: httpx.Client) -> str:
    every = admin.get("/api/v1/snapshots").json()
    return str(max(every, key=lambda each: each["created_ms"])["id"])


def test_a_write_that_names_no_author_has_the_name_of_its_token(
    admin: httpx.Client, settings: RelaySettings
) -> None:
    group, copies = "/api/v1/configs/ROMA_GROUP", "/api/v1/snapshots"
    wish = {"tables": ["b.t"], "instances": ["shop"]}

    def write() -> int:
        made = admin.post(copies, json=wish)
        assert [each["by"] for each in made.json()] == ["api.token"], made.text
        assert admin.post("/api/v1/instances/shop/pause").status_code == 200
        assert admin.put("/api/v1/placement/maintenance/s1").status_code == 200
        topics = {"com.pajk.Roma.topics": [{"logicDb": "z", "topic": "z"}]}
        assert admin.put(group, json=topics, headers=ANY).status_code == 200
        own = "/api/v1/instances/own/settings"
        assert admin.put(own, json={"source": SOURCE}).is_success
        assert admin.delete(own, headers=ANY).is_success
        return 6

    entries = entries_of(settings, write)
    assert {each.actor for each in entries} == {"api.token"}, entries
    [newest, *_] = admin.get("/api/v1/mappings/sets").json()
    assert newest["author"] == "api.token"


def test_each_act_of_a_user_on_the_own_session_is_written_down(
    admin: httpx.Client, settings: RelaySettings
) -> None:
    url, user = str(admin.base_url), {"role": "viewer", "password": PASSWORD}

    def write() -> int:
        tag = {"If-Match": admin.get("/api/v1/users").headers["etag"]}
        assert admin.put("/api/v1/users/joe", json=user, headers=tag).status_code == 201
        with _browser(url) as browser:
            _by_interface(browser)
        with _browser(url) as browser:
            _by_page(browser)
        return 13

    found = Counter((each.actor, each.act) for each in entries_of(settings, write))
    assert found == {
        ("api.token", "user.added"): 1,
        ("joe", "session.opened"): 5,
        ("unknown", "session.refused"): 2,
        ("joe", "user.password_set"): 2,
        ("joe", "session.closed"): 3,
    }


def _browser(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, trust_env=False, timeout=60)


def _by_interface(browser: httpx.Client) -> None:
    session = "/api/v1/session"
    wrong = browser.post(session, json={"name": "joe", "password": OTHER})
    assert wrong.status_code == 401
    opened = browser.post(session, json={"name": "joe", "password": PASSWORD})
    token = {"X-CSRF-Token": opened.json()["csrf"]}
    change = {"present": PASSWORD, "wanted": OTHER}
    changed = browser.put(f"{session}/password", json=change, headers=token)
    assert changed.status_code == 200, changed.text
    token = {"X-CSRF-Token": changed.json()["csrf"]}
    assert browser.delete(session, headers=token).status_code == 204


def _by_page(browser: httpx.Client) -> None:
    browser.headers["Accept"] = "text/html"
    for password, status in ((PASSWORD, 401), (OTHER, 303)):
        assert _signed_in(browser, password) == status
    form = {"present": OTHER, "wanted": PASSWORD, "again": PASSWORD}
    assert _posted(browser, "/users/me/password", form) == 303
    assert _posted(browser, "/users/me/sign-out", {}) == 303
    assert _signed_in(browser, PASSWORD) == 303
    assert _posted(browser, "/logout", {}) == 303


def _signed_in(browser: httpx.Client, password: str) -> int:
    form = {"name": "joe", "password": password, "next": "/"}
    csrf = csrf_of(browser.get("/login").text)
    return browser.post("/login", data={**form, "csrf": csrf}).status_code


def _posted(browser: httpx.Client, path: str, form: dict[str, str]) -> int:
    page = browser.get("/users").text
    return browser.post(path, data={**form, "csrf": csrf_of(page)}).status_code


def test_each_command_leaves_its_act(
    admin: httpx.Client, settings: RelaySettings, tmp_path: Path
) -> None:
    file = tmp_path / "relay.toml"
    parts = {"installation", "kafka", "zookeeper", "instances"}
    document = settings.model_dump(mode="json", include=parts, exclude_none=True)
    document["instances"] = [
        {"name": "shop", "source": {"host": "m", "user": "u", "standby": {"host": "s"}}}
    ]
    file.write_text(tomli_w.dumps(document))

    def write() -> int:
        for name, (_, arguments) in COMMANDS.items():
            number = _newest_copy(admin) if "NUMBER" in arguments else ""
            own = [number if each == "NUMBER" else each for each in arguments]
            given = [*name.split(), *own, "--config", str(file), "--comment", "why"]
            ran = CliRunner().invoke(app, given, input=f"{PASSWORD}\n")
            assert ran.exit_code == 0, (name, ran.output)
        return len(COMMANDS)

    entries = entries_of(settings, write)
    assert Counter(each.act for each in entries) == Counter(act for act, _ in COMMANDS.values())
    assert {each.comment for each in entries} == {"why"}
    assert "@" in entries[0].actor  # the login and the host

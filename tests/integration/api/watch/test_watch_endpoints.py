"""What the watch saw over HTTP, with statuses in a real ZooKeeper."""

import json
from collections.abc import Iterator
from time import monotonic, time

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.state import InstanceStatus, InstanceStore, Membership, Paths, RelayMember
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until


@pytest.fixture
def installation(fresh_name: FreshName) -> str:
    return fresh_name("watch")


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture
def admin(zookeeper: ZooKeeper, installation: str) -> Iterator[httpx.Client]:
    with admin_client(admin_settings(zookeeper.hosts, installation)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


def now_ms() -> int:
    return int(time() * 1000)


def report(session: Session, installation: str, status: InstanceStatus) -> None:
    InstanceStore(session, Paths(f"/roma/{installation}")).put_status(status)


def announce(session: Session, installation: str, *instances: str) -> None:
    member = RelayMember("r1", "host", 7, "", instances, 5, "s1", 4000)
    Membership(session, Paths(f"/roma/{installation}")).announce(member)


def test_an_installation_without_instances_needs_nobody(admin: httpx.Client) -> None:
    answer = admin.get("/api/v1/needs-you").json()
    assert (answer["needs"], answer["old"]) == ([], False)
    assert answer["read_ms"] > 0
    assert admin.get("/api/v1/series").json()["instances"] == {}


def test_a_stop_needs_somebody_at_once_and_its_end_nobody(
    admin: httpx.Client, session: Session, installation: str
) -> None:
    announce(session, installation, "shop")
    stopped = InstanceStatus("shop", "STOPPED", "BINLOG_PURGED", "It is gone.", "Restore it.", "r1")
    report(session, installation, stopped)
    wait_until(
        lambda: bool(admin.get("/api/v1/needs-you").json()["needs"]), "the stop to be listed"
    )
    (need,) = admin.get("/api/v1/needs-you").json()["needs"]
    assert (need["kind"], need["code"], need["reason"], need["remedy"], need["link"]) == (
        "stopped",
        "BINLOG_PURGED",
        "It is gone.",
        "Restore it.",
        "instances/shop",
    )
    report(session, installation, InstanceStatus("shop", "RUNNING", relay="r1"))
    wait_until(lambda: not admin.get("/api/v1/needs-you").json()["needs"], "nothing to be listed")
    states = admin.get("/api/v1/instances/shop/states").json()["states"]
    assert [(each["state"], each["code"]) for each in states] == [
        ("STOPPED", "BINLOG_PURGED"),
        ("RUNNING", ""),
    ]
    assert (states[0]["until_ms"], states[1]["until_ms"]) == (states[1]["since_ms"], None)
    [listed] = admin.get("/api/v1/instances").json()
    assert listed == admin.get("/api/v1/instances/shop").json()
    assert (listed["since_ms"], listed["source_address"]) == (states[1]["since_ms"], "")
    report(session, installation, InstanceStatus("shop", "PAUSED", relay="r1"))
    assert admin.get("/api/v1/instances/shop").json()["since_ms"] in (None, *_begin_of_pause(admin))


def _begin_of_pause(admin: httpx.Client) -> list[int]:
    states = admin.get("/api/v1/instances/shop/states").json()["states"]
    return [each["since_ms"] for each in states if each["state"] == "PAUSED"]


def test_an_instance_names_the_address_of_its_source(
    zookeeper: ZooKeeper, installation: str
) -> None:
    instances = [{"name": "shop", "source": {"host": "db-1", "port": 3307, "user": "u"}}]
    settings = admin_settings(zookeeper.hosts, installation, instances=instances)
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        wait_until(
            lambda: client.get("/api/v1/instances/shop").json()["source_address"] == "db-1:3307",
            "the address",
        )


def test_rows_and_lag_become_series(
    admin: httpx.Client, session: Session, installation: str
) -> None:
    announce(session, installation, "shop")
    start_ms = now_ms()

    def known(metric: str) -> list[float]:
        elapsed_ms = now_ms() - start_ms
        status = InstanceStatus(
            "shop",
            "RUNNING",
            relay="r1",
            published_rows=elapsed_ms,
            lag_seconds=0.25,
            updated_ms=start_ms + elapsed_ms,
        )
        report(session, installation, status)
        query = {"metric": metric, "range": "1h"}
        values = admin.get("/api/v1/instances/shop/series", params=query).json()["values"]
        return [each for each in values if each is not None]

    wait_until(lambda: bool(known("rows")), "a rate to be known")
    assert known("rows") == pytest.approx([1000.0] * len(known("rows")), rel=0.01)
    assert set(known("lag")) == {0.25}
    spark = admin.get("/api/v1/series?range=1h").json()["instances"]["shop"]
    assert (len(spark["rows"]), len(spark["lag"]), spark["lag"][-1]) == (24, 24, 0.25)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/v1/instances/none/series", 404),
        ("/api/v1/instances/none/states", 404),
        ("/api/v1/instances/none/series?metric=cpu", 422),
        ("/api/v1/instances/none/series?range=2h", 422),
        ("/api/v1/instances/none/states?range=", 422),
    ],
)
def test_what_is_not_there_is_said(admin: httpx.Client, address: str, status: int) -> None:
    assert admin.get(address).status_code == status


def test_without_zookeeper_the_error_names_it() -> None:
    with admin_client(admin_settings("127.0.0.1:1", "none")) as admin:
        for address in ("/api/v1/needs-you", "/api/v1/series", "/api/v1/instances/x/states"):
            answer = admin.get(address)
            assert (answer.status_code, answer.json()["code"]) == (503, "ZOOKEEPER_UNREACHABLE")


def events(admin: httpx.Client, count: int, last: str = "") -> list[tuple[str, str, str]]:
    """The first events of a stream: id, instance, state."""
    found, number = [], ""
    headers = {"Last-Event-ID": last} if last else {}
    with admin.stream("GET", "/api/v1/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("id: "):
                number = line.removeprefix("id: ")
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                found.append((number, data["instance"], data["state"]))
                if len(found) == count:
                    break
    return found


def test_events_begin_with_every_state_and_go_on_where_they_were_broken_off(
    admin: httpx.Client, session: Session, installation: str
) -> None:
    announce(session, installation, "shop", "crm")
    for name in ("shop", "crm"):
        report(session, installation, InstanceStatus(name, "RUNNING", relay="r1"))
    wait_until(lambda: len(admin.get("/api/v1/instances").json()) == 2, "both instances")
    admin.get("/api/v1/needs-you")
    first = events(admin, 2)
    assert {each[1:] for each in first} == {("shop", "RUNNING"), ("crm", "RUNNING")}
    stopped = InstanceStatus("shop", "STOPPED", "BINLOG_PURGED", "It is gone.", "Restore it.", "r1")
    report(session, installation, stopped)
    (change,) = events(admin, 1, last=first[-1][0])
    assert change[1:] == ("shop", "STOPPED")
    assert {each[1:] for each in events(admin, 2, last="1-1")} == {
        ("crm", "RUNNING"),
        ("shop", "STOPPED"),
    }


def test_an_open_stream_does_not_keep_the_admin_from_ending(
    zookeeper: ZooKeeper, installation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.server._GRACE_SECONDS", 120)
    with admin_client(admin_settings(zookeeper.hosts, installation)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        stream = httpx.stream(
            "GET", f"{client.base_url}/api/v1/events", headers=client.headers, trust_env=False
        )
        answer = stream.__enter__()
        lines = answer.iter_lines()
        assert next(lines).startswith(": ")
        began = monotonic()
    assert monotonic() - began < 60  # answers under way would get 120 s
    answer.close()

"""Moves and maintenance over HTTP and the command line; the relays themselves are tested
elsewhere.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import tomli_w
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.cli import app
from relay.settings import KafkaSettings
from relay.state import Membership, Paths, PlacementStore, RelayMember, RunnableInstance
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

PLACEMENT = "/api/v1/placement"
ABLE = RunnableInstance("shop", ("s2",))
UNABLE = RunnableInstance("shop", (), "SOURCE_UNREACHABLE", "It hung up.")


@pytest.fixture
def installation(fresh_name: FreshName) -> str:
    return fresh_name("placement")


@pytest.fixture
def admin(zookeeper: ZooKeeper, installation: str) -> Iterator[httpx.Client]:
    with admin_client(admin_settings(zookeeper.hosts, installation)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@pytest.fixture
def overrides(zookeeper: ZooKeeper, installation: str) -> Iterator[PlacementStore]:
    """Three relays that live: the first leads, the second could, the third could not."""
    with session_with(zookeeper.hosts) as session:
        paths = Paths(f"/roma/{installation}")
        for number, (name, runnable) in enumerate({"r1": ABLE, "r2": ABLE, "r3": UNABLE}.items()):
            member = RelayMember(
                name,
                server=f"s{number + 1}",
                instances=("shop",),
                session_timeout_ms=4000,
                candidacies=(runnable,),
            )
            Membership(session, paths).announce(member)
        session.create_ephemeral(paths.leader("shop"), b'{"relay": "r1"}')
        yield PlacementStore(session, paths)


def test_what_runs_where_and_what_could_is_shown(
    admin: httpx.Client, overrides: PlacementStore
) -> None:
    (shop,) = admin.get(PLACEMENT).json()["instances"]
    assert (shop["instance"], shop["leader"], shop["moved_to"], shop["preferred"]) == (
        "shop",
        "r1",
        "",
        ["s2"],
    )
    assert [(each["relay"], each["server"], each["code"]) for each in shop["candidates"]] == [
        ("r1", "s1", ""),
        ("r2", "s2", ""),
        ("r3", "s3", "SOURCE_UNREACHABLE"),
    ]
    assert [each["session_timeout_ms"] for each in admin.get("/api/v1/relays").json()] == [
        4000,
        4000,
        4000,
    ]


def test_a_move_is_noted_and_withdrawn(admin: httpx.Client, overrides: PlacementStore) -> None:
    headers = {"X-Author": "ann", "X-Comment": "new machine"}
    answer = admin.put(f"{PLACEMENT}/moves/shop", json={"to": "s2"}, headers=headers)
    assert answer.status_code == 200
    (move,) = answer.json()["moves"]
    assert (move["name"], move["to"], move["author"], move["comment"]) == (
        "shop",
        "s2",
        "ann",
        "new machine",
    )
    assert overrides.overrides().moves["shop"].to == "s2"
    assert admin.delete(f"{PLACEMENT}/moves/shop").json()["moves"] == []
    assert admin.delete(f"{PLACEMENT}/moves/shop").status_code == 404


@pytest.mark.parametrize(
    ("instance", "to", "status", "said"),
    [
        ("shop", "nowhere", 409, "No connected relay or server named nowhere"),
        ("shop", "r3", 409, "It hung up"),
        ("shop", "s1", 409, "in maintenance"),
        ("none", "r1", 404, "named none"),
        ("shop", "", 422, ""),
    ],
)
def test_a_move_that_cannot_be_carried_out_changes_nothing(
    admin: httpx.Client, overrides: PlacementStore, instance: str, to: str, status: int, said: str
) -> None:
    assert admin.put(f"{PLACEMENT}/maintenance/s1").status_code == 200
    answer = admin.put(f"{PLACEMENT}/moves/{instance}", json={"to": to})
    assert answer.status_code == status
    assert said in answer.json()["detail"]
    assert overrides.overrides().moves == {}


def test_a_maintenance_begins_and_ends(admin: httpx.Client, overrides: PlacementStore) -> None:
    begun = admin.put(f"{PLACEMENT}/maintenance/s1", headers={"X-Comment": "disks"}).json()
    assert [(each["name"], each["comment"]) for each in begun["maintenance"]] == [("s1", "disks")]
    assert [each["in_maintenance"] for each in begun["instances"][0]["candidates"]] == [
        True,
        False,
        False,
    ]
    assert admin.delete(f"{PLACEMENT}/maintenance/s1").json()["maintenance"] == []
    assert admin.delete(f"{PLACEMENT}/maintenance/s1").status_code == 404
    assert overrides.overrides().maintenance == {}


def test_writes_need_the_token(admin: httpx.Client, overrides: PlacementStore) -> None:
    for method, address in (
        ("PUT", "maintenance/s1"),
        ("DELETE", "maintenance/s1"),
        ("PUT", "moves/shop"),
        ("DELETE", "moves/shop"),
    ):
        answer = admin.request(
            method, f"{PLACEMENT}/{address}", json={"to": "s2"}, headers={"Authorization": ""}
        )
        assert answer.status_code == 401


def test_the_command_line_does_the_same_and_writes_it_into_the_audit_trail(
    overrides: PlacementStore,
    zookeeper: ZooKeeper,
    kafka: Kafka,
    installation: str,
    tmp_path: Path,
) -> None:
    brokers = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    file = tmp_path / "relay.toml"
    document = {
        "installation": installation,
        "kafka": brokers.model_dump(exclude_none=True),
        "zookeeper": {"hosts": zookeeper.hosts},
    }
    file.write_text(tomli_w.dumps(document), encoding="utf-8")

    def roma(*words: str) -> Result:
        command = ["placement", *words, "--config", str(file)]
        return CliRunner().invoke(app, command, env={"COLUMNS": "200"})

    why = ("--actor", "ann", "--comment", "why")
    assert roma("move", "shop", "--to", "s2", *why).exit_code == 0
    assert overrides.overrides().moves["shop"].note.comment == "why"
    assert roma("drain", "s3").exit_code == 0
    shown = roma("show").stdout
    assert "SOURCE_UNREACHABLE" in shown
    assert "in maintenance: s3" in shown
    refused = roma("move", "shop", "--to", "s3")
    assert (
        refused.exit_code,
        refused.stderr.startswith("PLACEMENT_REFUSED: s3 is in maintenance."),
    ) == (1, True)
    assert roma("withdraw", "shop", *why).exit_code == 0
    assert roma("withdraw", "shop").stderr.startswith("NODE_MISSING: Instance shop was not moved.")
    assert roma("resume", "s3").exit_code == 0
    assert (overrides.overrides().moves, overrides.overrides().maintenance) == ({}, {})
    entries = AuditTrail(brokers, installation).entries(10)[::-1]
    assert [(each.act, each.subject, each.before, each.after) for each in entries] == [
        ("instance.moved", "shop", {"to": ""}, {"to": "s2"}),
        ("maintenance.begun", "", {}, {"server": "s3"}),
        ("move.withdrawn", "shop", {"to": "s2"}, {}),
        ("maintenance.ended", "", {"server": "s3"}, {}),
    ]
    assert [(each.actor, each.comment) for each in entries[::2]] == [("ann", "why")] * 2

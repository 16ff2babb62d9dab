"""The audit trail on a real broker, read by the command and over HTTP."""

import csv
import json
from pathlib import Path

import pytest
import tomli_w
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditEntry, AuditTrail
from relay.cli import app
from relay.errors import TopicRefused
from relay.kafka import TopicAdmin, TopicSpec
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


def test_entries_are_read_back_newest_first_by_code_command_and_address(
    settings: KafkaSettings, zookeeper: ZooKeeper, fresh_name: FreshName, tmp_path: Path
) -> None:
    name = fresh_name("audit")
    trail = AuditTrail(settings, name)
    assert trail.entries(10) == ()
    first = AuditEntry("ann", "position.set", "shop", {"offset": 4}, {"offset": 900}, "poison")
    second = AuditEntry("bob", "restore")
    trail.append(first)
    trail.append(second)
    stranger = Producer({"bootstrap.servers": settings.bootstrap_servers})
    stranger.produce(trail.topic, b"not an entry", partition=0)
    assert stranger.flush(20) == 0
    assert trail.entries(10) == (second, first)
    assert trail.entries(1) == (second,)
    assert trail.entries(10, "shop") == (first,)
    installation = admin_settings(
        zookeeper.hosts, name, kafka=settings.model_dump(exclude_none=True)
    )
    file = tmp_path / "relay.toml"
    file.write_text(
        tomli_w.dumps(
            installation.model_dump(
                include={"installation", "kafka", "zookeeper"}, exclude_none=True
            )
        )
    )
    shown = CliRunner().invoke(app, ["audit", "--config", str(file)])
    assert [line.split("  ")[1:] for line in shown.output.splitlines() if " UTC  " in line] == [
        ["bob", "restore"],
        ["ann", "position.set", "shop"],
    ]
    assert '  before {"offset": 4}' in shown.output
    with admin_client(installation) as admin:
        (only,) = admin.get("/api/v1/audit?subject=shop").json()
    assert only == {
        "actor": "ann",
        "act": "position.set",
        "subject": "shop",
        "before": {"offset": 4},
        "after": {"offset": 900},
        "comment": "poison",
        "at_ms": first.at_ms,
        "via": "relay",
    }


def test_a_topic_that_would_forget_is_refused(
    settings: KafkaSettings, fresh_name: FreshName
) -> None:
    trail = AuditTrail(settings, fresh_name("audit"))
    TopicAdmin(settings).create(TopicSpec(trail.topic, 1, 1, {"retention.ms": "3600000"}))
    with pytest.raises(TopicRefused):
        trail.append(AuditEntry("ann", "restore"))


def test_acts_on_zookeeper_are_written_down(
    settings: KafkaSettings, zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    installation = admin_settings(
        zookeeper.hosts, fresh_name("audit"), kafka=settings.model_dump(exclude_none=True)
    )
    who = {"X-Author": "ann%1b", "X-Comment": "why"}
    source = {"host": "h", "user": "u", "server_id": 1, "password": "s3cr3t"}
    documents = {"com.pajk.Roma.topics": [{"logicDb": "a", "topic": "t"}]}
    with admin_client(installation) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        group = "/api/v1/configs/ROMA_GROUP"
        assert admin.put(group, json=documents, headers=who).status_code == 200
        assert admin.put(group, json={}, headers={**who, "If-Match": "*"}).status_code == 200
        assert (
            admin.post(
                "/api/v1/mappings/rollback", json={"set": 1}, headers={**who, "If-Match": "*"}
            ).status_code
            == 200
        )
        address = "/api/v1/instances/new/settings"
        assert admin.put(address, json={"source": source}, headers=who).status_code == 201
        changed = {**source, "host": "g", "password": "0ther"}
        assert (
            admin.put(
                address, json={"source": changed}, headers={**who, "If-Match": "*"}
            ).status_code
            == 200
        )
        assert admin.delete(address, headers={**who, "If-Match": "*"}).status_code == 204
        assert admin.put("/api/v1/placement/maintenance/m1", headers=who).status_code == 200
        assert admin.delete("/api/v1/placement/maintenance/m1", headers=who).status_code == 200
        wait_until(lambda: len(admin.get("/api/v1/audit").json()) == 8, "the entries")
        entries = admin.get("/api/v1/audit").json()[::-1]
    assert [each["act"] for each in entries] == [
        *("mapping.saved", "mapping.saved", "mapping.rolled-back"),
        *("instance.saved", "instance.saved", "instance.removed"),
        *("maintenance.begun", "maintenance.ended"),
    ]
    assert {each["actor"] for each in entries} == {"ann\\x1b"}
    assert entries[0]["after"] == {"set": 1, "documents": {"com.pajk.Roma.topics": 1}}
    assert entries[4]["before"]["source"]["host"] == "h"
    assert entries[4]["after"]["source"]["host"] == "g"
    assert "s3cr3t" not in str(entries)
    assert "0ther" not in str(entries)
    assert entries[6]["after"] == {"server": "m1"}


def test_chains_of_several_writers_are_checked_by_command_address_and_page(
    settings: KafkaSettings, zookeeper: ZooKeeper, fresh_name: FreshName, tmp_path: Path
) -> None:
    name = fresh_name("audit")
    living, other = AuditTrail(settings, name), AuditTrail(settings, name)
    old = Producer({"bootstrap.servers": settings.bootstrap_servers})
    living.ensure_topic()
    old.produce(living.topic, AuditEntry("ann", "old").to_bytes(), partition=0)
    assert old.flush(20) == 0
    for number in range(3):
        living.append(AuditEntry("ann", f"ann.{number}", "shop"))
        other.append(AuditEntry("bob", f"bob.{number}", "=1+1", comment="why"))
    aborted = AuditTrail(settings, name).message(AuditEntry("eve", "aborted"))
    assert aborted.topic == living.topic  # its transaction never came to be
    whole = AuditTrail(settings, name).verify()
    assert (whole.problems, whole.entries, whole.chains, whole.unchained) == ((), 6, 2, 1)
    assert len(whole.newest) == 2

    installation = admin_settings(
        zookeeper.hosts, name, kafka=settings.model_dump(exclude_none=True)
    )
    file = tmp_path / "relay.toml"
    wanted = {"installation", "kafka", "zookeeper"}
    file.write_text(tomli_w.dumps(installation.model_dump(include=wanted, exclude_none=True)))

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["audit", *arguments, "--config", str(file)])

    checked = run("verify", "--known", str(whole.newest[0]))
    assert (checked.exit_code, "No entry is missing" in checked.output) == (0, True)
    table = tmp_path / "audit.csv"
    assert run("export", "--format", "csv", "--who", "bob", "--into", str(table)).exit_code == 0
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [(row["actor"], row["subject"], row["comment"]) for row in rows] == [
        ("bob", "'=1+1", "why")
    ] * 3
    assert run("export", "--into", str(table)).exit_code == 1  # it is there
    to_csv = ("--format", "csv", "--who", "bob", "--into", str(tmp_path / "again.csv"))
    written = {"file": str(tmp_path / "again.csv"), "format": "csv", "entries": 3}
    assert json.loads(run("export", "--json", *to_csv).stdout) == written
    exported = run("export", "--json", "--who", "bob").stdout.splitlines()
    assert [json.loads(each)["actor"] for each in exported] == ["bob"] * 3

    deleting = AdminClient({"bootstrap.servers": settings.bootstrap_servers})
    for offset in (1, 3):  # somebody deletes the oldest records, and the living writer continues
        place = TopicPartition(living.topic, 0, offset)
        deleting.delete_records([place])[place].result(60)
        (problem, *_) = AuditTrail(settings, name).verify().problems
        assert ("first 1 entries without a chain" in problem) == (offset == 1)
    living.append(AuditEntry("ann", "ann.3", "shop"))
    broken = run("verify", "--json")
    assert broken.exit_code == 1
    problems = json.loads(broken.output)["problems"]
    assert any("is missing; entry 2 of" in each for each in problems)
    with admin_client(installation) as admin:
        told = admin.get("/api/v1/audit/verification").json()
        assert (told["whole"], told["problems"]) == (False, problems)
        assert "Records before offset 3 were deleted" in told["notes"][0]
        assert "The audit trail has missing or changed entries" in admin.get("/audit").text
        assert admin.get("/api/v1/audit/verification?known=x").status_code == 400
        lines = admin.get("/api/v1/audit?format=csv&actor=ann").text.splitlines()
        assert (len(lines), lines[0][:5]) == (4, "time,")

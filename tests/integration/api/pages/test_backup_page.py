"""Backups by page and interface: sealed, compared, put back, and in the audit trail."""

import html
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import tomli_w
from typer.testing import CliRunner

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.cli import app
from relay.settings import KafkaSettings
from relay.state import MappingStore, Note, Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import csrf_of, page_client
from tests.support.waiting import wait_until

PASSPHRASE = "correct horse battery"
OTHER = "another long phrase"
SECRET = "planted-secret-of-a-source"
BACKUP = "/api/v1/backup"
JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("backup-page")


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, kafka: Kafka, installation: str) -> Iterator[httpx.Client]:
    with page_client(zookeeper, kafka, installation) as client:
        user = {"role": "admin", "password": "an old long password"}
        made = client.put("/api/v1/users/ann", json=user, headers={"If-None-Match": "*"})
        assert made.status_code == 201, made.text
        source = {"host": "127.0.0.1", "port": 1, "user": "u", "server_id": 7, "password": SECRET}
        saved = client.put("/api/v1/instances/late/settings", json={"source": source})
        assert saved.status_code in (200, 201), saved.text
        yield client


@pytest.fixture
def store(session: Session, paths: Paths) -> MappingStore:
    return MappingStore(session, paths)


def saved_topic(store: MappingStore, topic: str) -> int:
    bodies = {"com.pajk.Roma.topics": json.dumps([{"logicDb": "a", "topic": topic}])}
    return store.save(store.current(), bodies, Note("ann")).number


def taken(admin: httpx.Client) -> str:
    form = {"passphrase": PASSPHRASE, "again": PASSPHRASE, "comment": "before the change"}
    answer = admin.post("/backup/take", data={**form, "csrf": csrf_of(admin.get("/backup").text)})
    assert answer.status_code == 200, answer.text
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.headers["cache-control"] == "no-store"
    return answer.text


def acts(kafka: Kafka, installation: str, act: str) -> list[str]:
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap, replication_factor=1)
    entries = AuditTrail(settings, installation).entries(100)
    return [str(each) for each in entries if each.act == act]


def test_a_backup_is_sealed_compared_and_put_back_by_the_page(
    admin: httpx.Client, store: MappingStore, kafka: Kafka, installation: str
) -> None:
    before = saved_topic(store, "former")
    file = taken(admin)
    assert not [each for each in (SECRET, "$argon2", "former", PASSPHRASE) if each in file]
    after = saved_topic(store, "later")

    form = {"file": file, "passphrase": PASSPHRASE}
    preview = html.unescape(admin.post("/backup/preview", data=form).text)
    assert f"Mapping set {after} is active now. The documents of the backup's set" in preview
    assert "Different now, and replaced: 1." in preview
    assert PASSPHRASE not in preview
    assert store.number() == after

    wrong = admin.post("/backup/preview", data={**form, "passphrase": OTHER})
    assert (wrong.status_code, "passphrase is wrong" in wrong.text) == (409, True)
    unsure = admin.post("/backup/restore", data={**form, "confirm": "prod", "comment": "drill"})
    assert (unsure.status_code, "What will happen" in unsure.text) == (400, True)
    assert store.number() == after

    sure = {**form, "confirm": installation, "comment": "drill"}
    answer = admin.post("/backup/restore", data=sure)
    assert (answer.status_code, answer.headers["location"]) == (303, "../backup?done=restored")
    assert (store.number(), store.current().bodies) == (after + 1, store.load(before).bodies)
    wait_until(lambda: bool(acts(kafka, installation, "restore")), "the entry of the end")
    [noted] = acts(kafka, installation, "restore")
    assert "drill" in noted
    [begun] = acts(kafka, installation, "restore.begun")
    assert "'to_write': 1" in begun
    assert SECRET not in noted
    assert acts(kafka, installation, "backup.taken")
    same = admin.post("/backup/preview", data=form)
    assert "there is nothing to write" in same.text


def test_the_interface_does_the_same(
    admin: httpx.Client, store: MappingStore, installation: str
) -> None:
    before = saved_topic(store, "former")
    wish = {"passphrase": PASSPHRASE}
    file = admin.post(BACKUP, json=wish, headers=JSON).json()
    assert file["installation"] == installation
    after = saved_topic(store, "later")
    sealed = {"file": file, **wish}
    preview = admin.post(f"{BACKUP}/restore/preview", json=sealed, headers=JSON).json()
    assert preview["differ"] == ["mappings/pointer"]
    order = {**sealed, "confirm": installation}
    present = admin.post(f"{BACKUP}/restore", json=order, headers=JSON)
    assert (present.status_code, present.json()["code"]) == (409, "BACKUP_REFUSED")
    answer = admin.post(f"{BACKUP}/restore", json={**order, "over_present": True}, headers=JSON)
    assert answer.json()["written"] == 1, answer.text
    assert (store.number(), store.current().bodies) == (after + 1, store.load(before).bodies)


def test_what_cannot_be_a_backup_is_refused_with_the_reason(admin: httpx.Client) -> None:
    short = admin.post(BACKUP, json={"passphrase": "short"}, headers=JSON)
    assert (short.status_code, short.json()["code"]) == (409, "BACKUP_REFUSED")
    differ = admin.post("/backup/take", data={"passphrase": PASSPHRASE, "again": OTHER})
    assert (differ.status_code, "two passphrases differ" in differ.text) == (400, True)
    none = {"file": "{}", "passphrase": PASSPHRASE}
    answer = admin.post(f"{BACKUP}/restore/preview", json=none, headers=JSON)
    assert (answer.status_code, "not a sealed backup" in answer.json()["detail"]) == (409, True)


def test_the_command_opens_the_same_file(
    admin: httpx.Client,
    store: MappingStore,
    installation: str,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    tmp_path: Path,
) -> None:
    before = saved_topic(store, "former")
    file, config = tmp_path / "backup.json", tmp_path / "relay.toml"
    file.write_text(taken(admin))
    after = saved_topic(store, "later")
    config.write_text(
        tomli_w.dumps(
            {
                "installation": installation,
                "kafka": {
                    "bootstrap_servers": kafka.bootstrap,
                    "replication_factor": 1,
                    "min_insync_replicas": 1,
                },
                "zookeeper": {"hosts": zookeeper.hosts},
            }
        )
    )
    sure = ["--over-present", "--yes", installation, "--config", str(config)]
    asked = ["restore", str(file), "--passphrase-from-stdin", *sure]
    wrong = CliRunner().invoke(app, asked, input=f"{OTHER}\n")
    assert (wrong.exit_code, "BACKUP_REFUSED" in wrong.output) == (1, True), wrong.output
    ran = CliRunner().invoke(app, asked, input=f"{PASSPHRASE}\n")
    assert (ran.exit_code, "1 documents were written" in ran.output) == (0, True), ran.output
    assert (store.number(), store.current().bodies) == (after + 1, store.load(before).bodies)

"""Instances defined at run time, over HTTP: checked, guarded by their version, shown without secrets."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.state import MASK, InstanceDocumentStore, Paths
from tests.servers.fixtures import FreshName
from tests.support.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until
from tests.support.zookeeper_sessions import session_with

SOURCE: dict[str, Any] = {"host": "mysql1", "user": "u", "password": "s3cr3t", "server_id": 7}
CRM = "/api/v1/instances/crm/settings"


@pytest.fixture
def installation(fresh_name: FreshName) -> str:
    return fresh_name("definitions")


@pytest.fixture
def admin(zookeeper: ZooKeeper, installation: str) -> Iterator[httpx.Client]:
    instances = [{"name": "shop", "source": SOURCE}]
    with admin_client(admin_settings(zookeeper.hosts, installation, instances=instances)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@pytest.fixture
def store(zookeeper: ZooKeeper, installation: str) -> Iterator[InstanceDocumentStore]:
    with session_with(zookeeper.hosts) as session:
        yield InstanceDocumentStore(session, Paths(f"/roma/{installation}"))


def test_a_secret_is_kept_and_never_shown(admin: httpx.Client, store: InstanceDocumentStore) -> None:
    made = admin.put(CRM, json={"source": SOURCE})
    assert (made.status_code, made.headers["ETag"]) == (201, '"1"')
    shown = admin.get(CRM)
    for answer in (made, shown):
        assert "s3cr3t" not in answer.text
        assert answer.json()["source"]["password"] == MASK
    edited = {**shown.json(), "preferred_servers": ["relay-2"]}
    again = admin.put(CRM, json=edited, headers={"If-Match": shown.headers["ETag"]})
    assert (again.status_code, again.headers["ETag"]) == (200, '"2"')
    (document,) = store.all()
    assert document.settings().source.password.get_secret_value() == "s3cr3t"
    assert document.settings().preferred_servers == ("relay-2",)


def test_the_name_of_a_variable_is_shown(admin: httpx.Client) -> None:
    source = {**SOURCE, "password": "${CRM_PASSWORD}"}
    assert admin.put(CRM, json={"source": source}).json()["source"]["password"] == "${CRM_PASSWORD}"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "source: Field required"),
        ({"source": {**SOURCE, "server_id": 0}}, "source.server_id"),
        ({"source": SOURCE, "unknown": 1}, "unknown: Extra inputs"),
        ({"name": "other", "source": SOURCE}, "calls the instance other"),
        ({"source": {**SOURCE, "password": MASK}}, "none is stored"),
    ],
)
def test_settings_that_contradict_themselves_are_refused(
    admin: httpx.Client, store: InstanceDocumentStore, document: dict[str, Any], said: str
) -> None:
    answer = admin.put(CRM, json=document)
    assert (answer.status_code, answer.json()["code"]) == (422, "INSTANCE_REFUSED")
    assert said in answer.json()["detail"]
    assert "s3cr3t" not in answer.text
    assert store.all() == ()


def test_nobody_overwrites_or_removes_what_he_has_not_seen(admin: httpx.Client, store: InstanceDocumentStore) -> None:
    assert admin.get(CRM).status_code == 404
    assert admin.delete(CRM, headers={"If-Match": "*"}).status_code == 404
    assert admin.put(CRM, json={"source": SOURCE}).status_code == 201
    assert admin.put(CRM, json={"source": SOURCE}).status_code == 428
    assert admin.put(CRM, json={"source": SOURCE}, headers={"If-Match": '"9"'}).status_code == 412
    assert admin.put(CRM, json={"source": SOURCE}, headers={"If-None-Match": "*"}).status_code == 412
    assert admin.delete(CRM).status_code == 428
    assert admin.put(CRM, content="[1]", headers={"If-Match": '"1"'}).status_code == 400
    assert admin.put(CRM, json={"source": SOURCE}, headers={"Authorization": ""}).status_code == 401
    assert admin.delete(CRM, headers={"If-Match": '"1"'}).status_code == 204
    assert store.all() == ()


def test_instances_of_the_file_are_the_files(admin: httpx.Client) -> None:
    answer = admin.put("/api/v1/instances/shop/settings", json={"source": SOURCE})
    assert (answer.status_code, answer.json()["code"]) == (409, "DEFINED_IN_FILE")
    assert "configuration file" in admin.get("/api/v1/instances/shop/settings").json()["detail"]

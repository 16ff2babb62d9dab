"""Instances defined at run time, over HTTP: checked, guarded by their version, shown without
secrets.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.errors import VersionConflict
from relay.model.records.topic_partitioning import PartitioningRules, TopicPartitioning
from relay.route import DBS, TOPICS
from relay.settings import RunTimeVariables
from relay.state import MASK, InstanceDocumentStore, Paths, TopicAgreementStore
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

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


def test_a_secret_is_kept_and_never_shown(
    admin: httpx.Client, store: InstanceDocumentStore
) -> None:
    made = admin.put(CRM, json={"source": SOURCE})
    assert made.status_code == 201
    shown = admin.get(CRM)
    for answer in (made, shown):
        assert "s3cr3t" not in answer.text
        assert answer.json()["source"]["password"] == MASK
    edited = {**shown.json(), "preferred_servers": ["relay-2"]}
    again = admin.put(CRM, json=edited, headers={"If-Match": shown.headers["ETag"]})
    assert again.status_code == 200
    assert again.headers["ETag"] == admin.get(CRM).headers["ETag"] != shown.headers["ETag"]
    (document,) = store.all()
    assert document.settings(RunTimeVariables()).source.password.get_secret_value() == "s3cr3t"
    assert document.settings(RunTimeVariables()).preferred_servers == ("relay-2",)


def test_the_name_of_a_variable_is_shown(admin: httpx.Client) -> None:
    source = {**SOURCE, "password": "${ROMA_SECRET_CRM}"}
    assert (
        admin.put(CRM, json={"source": source}).json()["source"]["password"] == "${ROMA_SECRET_CRM}"
    )


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "source: Field required"),
        ({"source": {**SOURCE, "server_id": 0}}, "source.server_id"),
        ({"source": SOURCE, "unknown": 1}, "unknown: This key is not known here; known are name, "),
        (
            {"source": {**SOURCE, "pasword": "x"}},
            "source.pasword: This key is not known here; did you mean 'password'?",
        ),
        ({"name": "other", "source": SOURCE}, "has the name 'other'"),
        ({"source": {**SOURCE, "password": MASK}}, "no secret is stored"),
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


def test_nobody_overwrites_or_removes_what_he_has_not_seen(
    admin: httpx.Client, store: InstanceDocumentStore
) -> None:
    assert admin.get(CRM).status_code == 404
    assert admin.delete(CRM, headers={"If-Match": "*"}).status_code == 404
    made = admin.put(CRM, json={"source": SOURCE})
    assert made.status_code == 201
    assert admin.put(CRM, json={"source": SOURCE}).status_code == 428
    assert admin.put(CRM, json={"source": SOURCE}, headers={"If-Match": '"9"'}).status_code == 412
    assert (
        admin.put(CRM, json={"source": SOURCE}, headers={"If-None-Match": "*"}).status_code == 412
    )
    assert admin.delete(CRM).status_code == 428
    known = {"If-Match": made.headers["ETag"]}
    assert admin.put(CRM, content="[1]", headers=known).status_code == 400
    assert admin.put(CRM, json={"source": SOURCE}, headers={"Authorization": ""}).status_code == 401
    assert admin.delete(CRM, headers=known).status_code == 204
    assert store.all() == ()


def test_instances_of_the_file_are_the_files(admin: httpx.Client) -> None:
    answer = admin.put("/api/v1/instances/shop/settings", json={"source": SOURCE})
    assert (answer.status_code, answer.json()["code"]) == (409, "DEFINED_IN_FILE")
    assert "configuration file" in admin.get("/api/v1/instances/shop/settings").json()["detail"]


def test_the_route_and_the_dry_run_know_instances_of_run_time(
    admin: httpx.Client, store: InstanceDocumentStore
) -> None:
    assert (
        admin.get("/api/v1/route", params={"database": "crm", "table": "t"}).json()["outcome"]
        == "dropped"
    )
    assert (
        admin.put(CRM, json={"source": SOURCE, "routing": {"unmapped_db": "stop"}}).status_code
        == 201
    )
    asked = {"database": "crm", "table": "t"}
    assert admin.get("/api/v1/route", params=asked).status_code == 400, (
        "two instances treat names differently"
    )
    assert (
        admin.get("/api/v1/route", params={**asked, "instance": "crm"}).json()["outcome"] == "stop"
    )
    edit = {
        DBS: [{"logicDb": "shop", "realDbs": "crm"}],
        TOPICS: [{"logicDb": "shop", "topic": "shop"}],
    }
    told = admin.post("/api/v1/mappings/dry-run", json=edit).json()["changes"]
    assert [each["instances"] for each in told] == [["shop"], ["crm"]]
    store.save("odd", {"source": 1}, None)
    told = admin.post("/api/v1/mappings/dry-run", json=edit).json()["changes"]
    assert "settings of odd are invalid" in told[-1]["sentence"]
    assert (
        admin.get("/api/v1/route", params={**asked, "instance": "odd"}).json()["code"]
        == "INSTANCE_REFUSED"
    )
    assert admin.get("/api/v1/route", params={**asked, "instance": "none"}).status_code == 404


def test_an_edit_of_a_removed_instance_never_reaches_the_one_added_under_its_name(
    admin: httpx.Client, store: InstanceDocumentStore
) -> None:
    former = admin.put(CRM, json={"source": SOURCE})
    read = store.find("crm")
    assert read is not None
    known = {"If-Match": former.headers["ETag"]}
    assert admin.delete(CRM, headers=known).status_code == 204
    added = admin.put(CRM, json={"source": SOURCE})
    assert added.status_code == 201
    assert added.headers["ETag"] != former.headers["ETag"]
    late = admin.put(CRM, json={"source": SOURCE, "preferred_servers": ["r"]}, headers=known)
    assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")
    assert admin.delete(CRM, headers=known).status_code == 412
    for write in (lambda: store.save("crm", {"source": SOURCE}, read), lambda: store.remove(read)):
        with pytest.raises(VersionConflict):
            write()
    (document,) = store.all()
    assert document.fields["source"]["host"] == "mysql1"


def test_a_save_is_not_refused_because_another_instance_was_removed(
    store: InstanceDocumentStore,
) -> None:
    crm, other = (store.save(name, {"source": 1}, None) for name in ("crm", "other"))
    store.remove(other)
    again = store.save("crm", {"source": 2}, crm)
    assert store.find("crm") == replace(again, removals=1)
    assert again.state != crm.state


def test_an_instance_is_added_changed_and_removed_on_the_page(
    admin: httpx.Client, store: InstanceDocumentStore
) -> None:
    admin.headers["Accept"] = "text/html"
    page, blank = "/instance-settings", admin.get("/instance-settings")
    assert "The new instance" in blank.text
    broken = admin.post(page, data={"name": "crm", "document": "{", "comment": "kept"})
    assert (broken.status_code, 'value="kept"' in broken.text) == (400, True)
    unknown = admin.post(page, data={"name": "crm", "document": '{"sauce": 1}'})
    assert (unknown.status_code, "sauce" in unknown.text) == (422, True)
    made = admin.post(page, data={"name": "crm", "document": json.dumps({"source": SOURCE})})
    assert (made.status_code, made.headers["location"].split("&")[0]) == (303, f".{page}?name=crm")

    shown = admin.get(f"{page}?name=crm").text
    assert "s3cr3t" not in shown
    assert MASK in shown
    kept = {"source": {**SOURCE, "password": MASK}, "preferred_servers": ["relay-2"]}
    change = {"name": "crm", "known": "crm", "document": json.dumps(kept), "state": state(shown)}
    assert admin.post(page, data=change).status_code == 303
    assert admin.post(page, data=change).status_code == 412
    (document,) = store.all()
    assert document.settings(RunTimeVariables()).source.password.get_secret_value() == "s3cr3t"

    changed = state(admin.get(f"{page}?name=crm").text)
    removal = {"name": "crm", "state": changed, "comment": "moved", "confirm": "crm"}
    unsure = admin.post(f"{page}/remove", data={**removal, "confirm": "cr"})
    assert (unsure.status_code, "data-open" in unsure.text) == (400, True)
    assert admin.post(f"{page}/remove", data=removal).status_code == 303
    assert store.all() == ()
    assert admin.get(f"{page}?name=crm").status_code == 404


def state(page: str) -> str:
    found = re.search('name="state" value="([^"]+)"', page)
    assert found is not None
    return found.group(1)


def test_settings_of_the_file_are_shown_without_secrets_and_not_changed(
    admin: httpx.Client,
) -> None:
    admin.headers["Accept"] = "text/html"
    shown = admin.get("/instance-settings?name=shop").text
    assert "A configuration file defines this instance" in shown
    assert "mysql1" in shown
    assert "s3cr3t" not in shown
    refused = admin.post(
        "/instance-settings", data={"name": "shop", "document": json.dumps({"source": SOURCE})}
    )
    assert (refused.status_code, "DEFINED_IN_FILE" in refused.text) == (409, True)


def test_a_topic_in_use_does_not_get_another_format(
    admin: httpx.Client, zookeeper: ZooKeeper, installation: str
) -> None:
    made = admin.put(CRM, json={"source": SOURCE})
    partitioning = TopicPartitioning(4, PartitioningRules("", True, "logical"))
    with session_with(zookeeper.hosts) as session:
        agreements = TopicAgreementStore(session, Paths(f"/roma/{installation}"))
        agreements.change("crm", lambda found: found.with_feeder("crm", partitioning, "canal-json"))
        agreements.change("other", lambda found: found.with_feeder("o", partitioning, "canal-json"))
        assert agreements.read("crm").feeders["crm"].format == "canal-json"
    asked = {"If-Match": made.headers["ETag"]}

    def rules(topics: str) -> dict[str, Any]:
        return {"source": SOURCE, "topic": {"rules": [{"topics": topics, "format": "avro"}]}}

    registry = {"registry": {"url": "http://registry:8081"}}
    refused = admin.put(CRM, json={**rules("cr*"), **registry}, headers=asked)
    assert (refused.status_code, refused.json()["code"]) == (422, "INSTANCE_REFUSED")
    assert "crm as canal-json, and the new settings choose avro" in refused.text
    assert admin.put(CRM, json={**rules("other"), **registry}, headers=asked).status_code == 200

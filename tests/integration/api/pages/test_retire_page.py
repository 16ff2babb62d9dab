"""An instance is removed from its topics on a page, after the page named them."""

from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.model.records.topic_partitioning import PartitioningRules, TopicPartitioning
from relay.state import Paths, TopicAgreementStore
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import page_client

PAGE = "/instances/old/retire"
PARTITIONING = TopicPartitioning(4, PartitioningRules("", True, "logical"))


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("retire-page")


@pytest.fixture
def admin(zookeeper: ZooKeeper, kafka: Kafka, installation: str) -> Iterator[httpx.Client]:
    with page_client(zookeeper, kafka, installation, instances=[]) as client:
        yield client


def test_a_removed_instance_is_retired(admin: httpx.Client, session: Session, paths: Paths) -> None:
    assert "old feeds no topic" in admin.get(PAGE).text
    agreements = TopicAgreementStore(session, paths)
    agreements.change("people", lambda found: found.with_feeder("old", PARTITIONING))
    assert (
        "old is removed from the list of instances that feed 1 topic: people."
        in admin.get(PAGE).text
    )

    assert admin.get("/api/v1/instances/old/retire").json() == {"topics": ["people"]}
    unsure = admin.post(
        PAGE, data={"comment": "kept", "confirm": "ol"}, headers={"Accept": "text/html"}
    )
    assert (unsure.status_code, 'value="kept"' in unsure.text) == (400, True)
    assert list(agreements.read("people").feeders) == ["old"]

    sent = admin.post(PAGE, data={"comment": "ticket 7", "confirm": "old"})
    assert (sent.status_code, sent.headers["location"]) == (303, "retire?done=retired")
    assert not agreements.read("people").feeders
    assert "old feeds no topic" in admin.get(PAGE).text
    (entry,) = admin.get("/api/v1/audit?subject=old").json()
    assert (entry["act"], entry["comment"], entry["via"]) == (
        "instance.retired",
        "ticket 7",
        "page",
    )

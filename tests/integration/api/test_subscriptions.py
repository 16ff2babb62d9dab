"""What consumers are told about logical tables, by an admin on a real ZooKeeper."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.route import TOPICS
from tests.servers.fixtures import FreshName
from tests.support.relays.mapped_admin import DOCUMENTS, mapped_admin, save


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with mapped_admin(zookeeper.hosts, fresh_name("subscriptions")) as client:
        yield client


def _asked(admin: httpx.Client, database: str, table: str) -> httpx.Response:
    names = {"database": database, "table": table}
    return admin.get("/api/v1/subscriptions/table", params=names)


def test_a_logical_table_has_its_topic_its_tags_and_the_instances_that_met_it(
    admin: httpx.Client,
) -> None:
    found = _asked(admin, "shop", "client").json()
    assert (found["set"], found["bootstrap_servers"]) == (1, "127.0.0.1:1")
    assert (found["envelope_version"], found["caller"]) == (1, "")
    assert found["tables"] == [
        {
            "logical_database": "shop",
            "logical_table": "client",
            "topics": ["shop"],
            "since": {"shop": {"set": 0, "seconds": None}},
            "tags": ["client", "contact"],
            "instances": [
                {
                    "name": "shop-a",
                    "names": "logical",
                    "format": "canal-json",
                    "formats": {"shop": "canal-json"},
                    "value_style": "exact",
                    "ddl": "topic",
                    "transaction_topic": None,
                }
            ],
        }
    ]


def test_an_unknown_name_is_answered_with_names_that_are_written_like_it(
    admin: httpx.Client,
) -> None:
    missing = _asked(admin, "shop", "order")
    assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND")
    assert "Similar names: shop.orders" in missing.json()["detail"]


def test_all_tables_are_listed_also_those_without_a_rule(admin: httpx.Client) -> None:
    listed = admin.get("/api/v1/subscriptions").json()["tables"]
    names = {(each["logical_database"], each["logical_table"]) for each in listed}
    assert {("shop", "client"), ("shop", "orders"), ("shop", "cart"), ("crm", "lead")} <= names


def test_a_topic_has_the_set_that_gave_it_the_table_without_a_gap(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    def since(client: httpx.Client) -> Any:
        return _asked(client, "shop", "client").json()["tables"][0]["since"]

    with mapped_admin(zookeeper.hosts, fresh_name("subscriptions")) as client:
        for base, topic in enumerate(("shop", "other", "shop", "shop"), 1):
            topics = [
                {"logicDb": "shop", "topic": topic},
                {"logicDb": "crm", "topic": f"crm{base}"},
            ]
            save(client, {**DOCUMENTS, TOPICS: topics}, comment=topic, base=base)
        (found,) = since(client).values()
        assert (found["set"], 0 <= found["seconds"] < 60) == (4, True), "set 5 moved crm alone"
        more = [{"logicDb": "shop", "topic": ["more", "shop"]}, {"logicDb": "crm", "topic": "crm"}]
        save(client, {**DOCUMENTS, TOPICS: more}, comment="one more", base=5)
        assert {topic: each["set"] for topic, each in since(client).items()} == {
            "more": 6,
            "shop": 4,
        }

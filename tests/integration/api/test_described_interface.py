"""Generated requests to every endpoint: each answer is as the interface's description says."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core.failures import Failure
from schemathesis.specs.openapi.checks import positive_data_acceptance

from deploy.embedded import Kafka, ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.waiting import wait_until

ENDLESS = {"/api/v1/events", "/api/v1/peek"}
"""Streams have no answer to be validated whole."""
EXAMPLES = 6
Operation: TypeAlias = schemathesis.APIOperation[Any, Any, Any, Any]


@pytest.fixture
def admin(zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName) -> Iterator[httpx.Client]:
    name = fresh_name("described")
    found = admin_settings(
        zookeeper.hosts,
        name,
        kafka={
            "bootstrap_servers": kafka.bootstrap,
            "replication_factor": 1,
            "min_insync_replicas": 1,
        },
        instances=[{"name": "shop", "source": {"host": "127.0.0.1", "port": 1, "user": "u"}}],
    )
    with admin_client(found) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


def failures(operation: Operation) -> list[str]:
    """What is wrong with answers to generated requests to one endpoint."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: schemathesis.Case[Operation]) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        case.call_and_validate(headers=headers, excluded_checks=[positive_data_acceptance])

    wrong: list[str] = []
    try:
        ask()
    except* Failure as found:
        wrong.extend(str(each) for each in found.exceptions)
    return wrong


@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
def test_every_answer_is_as_described(admin: httpx.Client) -> None:
    """All checks but one: a request of the right form may name what is not there, or another state
    than the present one.
    """
    url = f"{str(admin.base_url).rstrip('/')}/openapi.json"
    found = [each.ok() for each in schemathesis.openapi.from_url(url).get_all_operations()]  # type: ignore[union-attr]  # an Err fails here
    asked = [each for each in found if each.path not in ENDLESS]
    assert len(asked) > 50
    failed = {each.label: wrong for each in asked if (wrong := failures(each))}
    assert not failed

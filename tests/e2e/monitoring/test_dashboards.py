"""Every query of the dashboards, asked of a real Prometheus that scrapes a relay under load."""

import math
from collections.abc import Iterator

import httpx
import pytest

from deploy.dashboards import DASHBOARDS, Query
from deploy.embedded import Kafka, MariaDB
from deploy.embedded.servers.prometheus import Prometheus
from tests.e2e.conftest import NewInstallation
from tests.servers.running import running
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import status_url
from tests.support.sources.counting_load import CountingLoad
from tests.support.waiting import wait_until

RANGE = "10s"
"""What Grafana puts in place of $__rate_interval: some scrapes."""


def samples(prometheus: Prometheus, query: Query) -> list[float]:
    """The values of an instant query; an error of the query fails the test."""
    expression = query.expression.replace("$__rate_interval", RANGE).replace("$instance", ".+")
    answer = httpx.get(
        f"{prometheus.url}/api/v1/query",
        params={"query": expression},
        trust_env=False,
        timeout=30,
    ).json()
    assert answer["status"] == "success", (expression, answer)
    return [float(each["value"][1]) for each in answer["data"]["result"]]


def queries(*files: str) -> Iterator[Query]:
    for file in files:
        for panel in DASHBOARDS[file].panels:
            yield from panel.queries


@pytest.fixture
def prometheus(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> Iterator[Prometheus]:
    """One that scrapes a relay under load and an admin that answers requests."""
    installation = new_installation(mariadb, kafka)
    settings = admin_settings(installation.document["zookeeper"]["hosts"], installation.name)
    with RelayProcess(installation) as relay, admin_client(settings) as admin:
        relay.wait_for("RUNNING")
        targets = {
            "roma-relay": [status_url(relay).removeprefix("http://")],
            "roma-admin": [f"{admin.base_url.host}:{admin.base_url.port}"],
        }
        with running(Prometheus(targets)) as server, CountingLoad(mariadb, installation.name):
            wait_until(
                lambda: admin.get("/api/v1/instances").status_code == 200, "the admin to answer"
            )
            yield server


def test_every_query_returns_figures_of_a_relay_under_load(prometheus: Prometheus) -> None:
    asked = list(queries("roma-installation.json", "roma-instance.json"))
    wanted = [each for each in asked if not each.quiet]

    def missing() -> list[str]:
        return [
            each.expression
            for each in wanted
            if not (found := samples(prometheus, each)) or all(math.isnan(one) for one in found)
        ]

    wait_until(lambda: not missing(), "figures of every query", 40)
    rows = Query("sum(rate(roma_published_rows_total[$__rate_interval]))")
    assert samples(prometheus, rows)[0] > 0
    for each in (*asked, *queries("roma-spark.json")):
        samples(prometheus, each)

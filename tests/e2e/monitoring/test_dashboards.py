"""Every query of the dashboards, asked of a real Prometheus that scrapes a relay under load."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest
from pydantic import SecretStr

from deploy.dashboards import DASHBOARDS, Query
from deploy.embedded import Kafka, MariaDB
from deploy.embedded.servers.prometheus import Prometheus
from relay.settings import RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.servers.running import running
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import NO_CERTIFICATES, status_url
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
        verify=NO_CERTIFICATES,
    ).json()
    assert answer["status"] == "success", (expression, answer)
    return [float(each["value"][1]) for each in answer["data"]["result"]]


def queries(*files: str) -> Iterator[Query]:
    for file in files:
        for panel in DASHBOARDS[file].panels:
            yield from panel.queries


class Scraped(NamedTuple):
    """A Prometheus that scrapes a relay under load, and the settings of an admin."""

    server: Prometheus
    settings: RelaySettings


@pytest.fixture
def scraped(mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation) -> Iterator[Scraped]:
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
            yield Scraped(server, settings)


def test_every_query_returns_figures_of_a_relay_under_load(scraped: Scraped) -> None:
    prometheus = scraped.server
    asked = list(queries("roma-installation.json", "roma-instance.json"))
    missing = [each for each in asked if not each.quiet]

    def has_figures(query: Query) -> bool:
        return not all(math.isnan(each) for each in samples(prometheus, query))

    def all_have() -> bool:
        while missing and has_figures(missing[-1]):
            missing.pop()
        return not missing

    wait_until(all_have, "figures of every query")
    rows = Query("sum(rate(roma_published_rows_total[$__rate_interval]))")
    assert samples(prometheus, rows)[0] > 0
    for each in (*asked, *queries("roma-spark.json")):
        samples(prometheus, each)
    charts_are_read_from(prometheus, scraped.settings)


def charts_are_read_from(prometheus: Prometheus, settings: RelaySettings) -> None:
    """An admin with `prometheus_url` shows its figures, and its own while it is away."""
    url = SecretStr(prometheus.url)
    api = settings.api.model_copy(
        update={"prometheus_url": url, "prometheus_labels": {"job": "roma-relay"}}
    )
    with admin_client(settings.model_copy(update={"api": api})) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to be ready")
        (name,) = admin.get("/api/v1/series").json()["instances"]
        series = admin.get(f"/api/v1/instances/{name}/series").json()
        assert series["problem"] == ""
        assert max(filter(None, series["values"])) > 0
        lag = admin.get(f"/api/v1/instances/{name}/series?metric=lag").json()
        assert any(each is not None for each in lag["values"])
        sparks = admin.get("/api/v1/series").json()
        assert max(filter(None, sparks["instances"][name]["rows"])) > 0
        assert (
            "Charts show only what this admin has recorded"
            not in admin.get(f"/instances/{name}").text
        )
        prometheus.stop()

        def told() -> bool:
            return f"Prometheus at {prometheus.address}" in admin.get(f"/instances/{name}").text

        wait_until(told, "the page to say that Prometheus is away")
        page = admin.get("/")
        assert page.status_code == 200
        assert "Charts show only what this admin has recorded" in page.text

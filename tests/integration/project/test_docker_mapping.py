"""The one-shot job of docker-compose.yml against a real admin."""

import os
import subprocess
import sys
from pathlib import Path

import httpx

from deploy.embedded import Kafka, ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.waiting import wait_until

_DOCKER = Path(__file__).parents[3] / "deploy" / "docker"


def _save(url: str, token: str = TOKEN) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(_DOCKER / "save_mapping.py"), url, str(_DOCKER / "mapping.json")]
    environment = {**os.environ, "ADMIN_TOKEN": token, "no_proxy": "*"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def _active_set(admin: httpx.Client) -> str:
    return admin.get("/api/v1/configs/ROMA_GROUP").headers["ETag"]


def test_the_example_is_saved_once_and_an_operators_edits_stay(
    zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName
) -> None:
    brokers = {"bootstrap_servers": kafka.bootstrap}
    settings = admin_settings(zookeeper.hosts, fresh_name("docker"), kafka=brokers)
    with admin_client(settings) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        url = str(admin.base_url).rstrip("/")
        first = _save(url)
        assert first.returncode == 0, first.stderr
        route = admin.get(
            "/api/v1/route", params={"database": "shop_02", "table": "customer_02"}
        ).json()
        assert "shop" in str(route)
        before = _active_set(admin)
        assert _save(url).returncode == 0
        assert _active_set(admin) == before


def test_a_refusal_is_told(zookeeper: ZooKeeper, fresh_name: FreshName) -> None:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("docker"))) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        refused = _save(str(admin.base_url).rstrip("/"), token="wrong")
        assert refused.returncode == 1
        assert "401" in refused.stderr or "403" in refused.stderr

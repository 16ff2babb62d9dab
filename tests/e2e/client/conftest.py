"""A relay and an admin of one installation, and what a client needs to subscribe."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.settings import RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN, serving
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.counting_load import binlog_end, published_end
from tests.support.waiting import wait_until


@dataclass(frozen=True)
class Shop:
    """An installation whose table `t` is logical `<name>.t`, with a running relay and admin."""

    installation: Installation
    mariadb: SqlServer
    kafka: Kafka
    relay: RelayProcess
    admin: str
    folder: Path

    @property
    def name(self) -> str:
        return self.installation.name

    def arguments(self, **more: Any) -> dict[str, Any]:
        """What a subscription of `<name>.t` takes, as JSON has it."""
        own = {
            "database": self.name,
            "table": "t",
            "group": f"{self.name}-service",
            "admin": self.admin,
            "token": TOKEN,
            "cache": str(self.folder / "cache"),
        }
        return {**own, **more}

    def execute(self, *statements: str) -> None:
        """Execute statements, `{t}` is the table."""
        self.mariadb.execute(*(each.replace("{t}", f"{self.name}.t") for each in statements))

    def wait_until_published(self) -> None:
        """Wait until the relay has published everything that was written before this call."""
        end = binlog_end(self.mariadb)
        wait_until(lambda: published_end(self.installation) >= end, f"rows up to {end}")


@pytest.fixture
def shop(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> Iterator[Shop]:
    with opened_shop(new_installation, mariadb, kafka, tmp_path) as shop:
        yield shop


@contextmanager
def opened_shop(
    new_installation: NewInstallation,
    mariadb: MariaDB,
    kafka: Kafka,
    folder: Path,
    **instance: Any,
) -> Iterator[Shop]:
    """Run relay and admin of a new installation."""
    installation = new_installation(mariadb, kafka, **instance)
    installation.map(tbs=[{"logicTb": "t", "realTbs": "t"}])  # known before its first row
    settings = RelaySettings.model_validate(
        {**installation.document, "placement": {}, "api": {"port": 0, "token": TOKEN}}
    )
    with serving(settings) as server, RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        yield Shop(installation, mariadb, kafka, relay, server.url, folder)

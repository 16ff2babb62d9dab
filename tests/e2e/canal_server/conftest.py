"""A Canal server beside a relay, an admin and a table of one installation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from canal_server.server import CanalServer
from deploy.embedded import Kafka, MariaDB
from relay.settings import RelaySettings
from tests.e2e.client.conftest import Shop, opened_shop
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN


@dataclass(frozen=True)
class Served:
    """A running Canal server, whose destination `example` has the tables of a shop."""

    shop: Shop
    server: CanalServer

    @property
    def address(self) -> tuple[str, int]:
        """Where clients connect to."""
        return self.server.address

    @property
    def table(self) -> str:
        """The logical table."""
        return f"{self.shop.name}.t"

    def insert(self, *keys: int) -> None:
        """Insert rows in one transaction."""
        values = ", ".join(f"({key}, {key}, 'v{key}')" for key in keys)
        self.shop.execute(f"insert into {{t}} values {values}")


def canal_settings(shop: Shop, **more: Any) -> RelaySettings:
    """Return settings with a Canal server of a shop."""
    own = {
        "port": 0,
        "admin": shop.admin,
        "token": TOKEN,
        "cache": str(shop.folder / "canal-cache"),
        "destinations": [{"name": "example"}],
        "session_timeout_seconds": 6,
        "refresh_seconds": 1,
        **more,
    }
    return RelaySettings.model_validate(
        {**shop.installation.document, "placement": {}, "canal_server": own}
    )


@contextmanager
def canal_server(shop: Shop, **more: Any) -> Iterator[Served]:
    """Run a Canal server in a thread of the test."""
    server = CanalServer(canal_settings(shop, **more))
    server.start()
    try:
        yield Served(shop, server)
    finally:
        server.stop()


@pytest.fixture
def full_shop(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> Iterator[Shop]:
    """A shop whose messages have all headers and Canal's texts."""
    message = {"headers": "full", "value_style": "canal"}
    with opened_shop(new_installation, mariadb, kafka, tmp_path, message=message) as shop:
        yield shop


@pytest.fixture
def served(full_shop: Shop) -> Iterator[Served]:
    with canal_server(full_shop) as served:
        yield served


@pytest.fixture
def serve(full_shop: Shop) -> Callable[..., Any]:
    """Return a context manager that runs a server with further settings."""
    return lambda **more: canal_server(full_shop, **more)

"""A database of the test's own, and the arguments that embedded changes of it take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from deploy.embedded import SqlServer
from relay.settings import SourceSettings
from tests.support.sources.source_reading import at, end_of, source_settings


class Shop(NamedTuple):
    """A database on a shared server, with the table `t`, and where its history begins."""

    server: SqlServer
    name: str
    source: SourceSettings
    options: dict[str, Any]

    @property
    def tables(self) -> list[str]:
        return [f"{self.name}.t"]

    def execute(self, *statements: str) -> None:
        self.server.execute(f"use {self.name}", *statements)


@pytest.fixture
def make_shop(tmp_path: Path, fresh_name: Callable[[str], str]) -> Callable[[SqlServer], Shop]:
    def made(server: SqlServer) -> Shop:
        start = at(end_of(server)).model_dump(mode="json", exclude_none=True)
        name = fresh_name("embedded")
        server.execute(
            f"create database {name}",
            f"create table {name}.t (id int primary key, v varchar(40), n int)",
        )
        options = {"position": str(tmp_path / "position"), "start": start}
        return Shop(server, name, source_settings(server), options)

    return made


@pytest.fixture
def shop(mariadb: SqlServer, make_shop: Callable[[SqlServer], Shop]) -> Shop:
    return make_shop(mariadb)

"""What every end-to-end test starts from: one table, one installation."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from tests.support.relays.relay_process import Installation

NewInstallation: TypeAlias = Callable[..., Installation]


@pytest.fixture
def new_installation(
    zookeeper: ZooKeeper, fresh_name: Callable[[str], str], tmp_path: Path
) -> Iterator[NewInstallation]:
    """Make a database `<name>` with table t(id, n, v), mapped to topic `<name>`.

    The name is the installation's.
    """
    made: list[Installation] = []

    def make(database: SqlServer, kafka: Kafka, **instance: Any) -> Installation:
        name = fresh_name("e2e").replace("-", "_")
        database.execute(
            f"create database {name}",
            f"create table {name}.t (id int primary key, n int, v longtext)",
        )
        instance = {"filter": {"filter_regex": f"{name}\\..*"}, **instance}
        installation = Installation(name, tmp_path, database, kafka, zookeeper, **instance)
        installation.map(
            topics=[{"logicDb": name, "topic": name}], dbs=[{"logicDb": name, "realDbs": name}]
        )
        made.append(installation)
        return installation

    yield make
    for installation in made:
        installation.close()

"""The type zoo in all formats, published once for each family of servers."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from deploy.embedded import Apicurio, Kafka, SqlServer, ZooKeeper
from tests.e2e.formats.zoo_topics import Zoo, publish_zoo
from tests.support.relays.relay_process import Installation

AVRO: Final[dict[str, Any]] = {"message": {"format": "avro"}}
FORMS: Final[dict[str, dict[str, Any]]] = {
    "canal": {},
    "debezium": {"message": {"format": "debezium-json"}},
    "debezium_schemas": {"message": {"format": "debezium-json", "schemas": True}},
    "debezium_readable": {"message": {"format": "debezium-json"}, "row_printer": "readable"},
    "maxwell": {"message": {"format": "maxwell-json"}},
    "cloudevents": {"message": {"format": "cloudevents"}},
    "json_schema": {"message": {"format": "json-schema"}},
    "protobuf": {"message": {"format": "protobuf"}},
    "avro": AVRO,
    "avro_readable": {**AVRO, "row_printer": "readable"},
}
"""Settings of an instance by a short name of its format."""


@pytest.fixture(scope="session")
def zoo(
    database: SqlServer,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    registry: Apicurio,
    fresh_name: Callable[[str], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Zoo]:
    name = fresh_name("zoo").replace("-", "_")
    folder = tmp_path_factory.mktemp(name)
    installation = Installation(name, folder, database, kafka, zookeeper)
    # the zoo has names of tables and columns that Avro does not allow
    avro = {"registry": {"url": registry.url, "names": "escape"}}
    yield publish_zoo(
        installation, database, kafka, {each: avro | form for each, form in FORMS.items()}
    )
    installation.close()

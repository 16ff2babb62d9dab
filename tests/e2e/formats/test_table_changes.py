"""ALTERs under formats with a registry: which schemas a real registry takes, and what happens when
it refuses one.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from deploy.embedded import Apicurio, Kafka, MariaDB
from relay.errors import SchemaRefused
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.settings import InstanceSettings
from tests.e2e.conftest import NewInstallation
from tests.e2e.formats.test_other_formats import ProtobufReader, row_of
from tests.e2e.formats.test_registry import set_level
from tests.e2e.formats.zoo_topics import read_records
from tests.snapshots.commands import roma, wait_for
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.table_plans import table_definition
from tests.support.waiting import wait_until


def varchar(name: str, length: int) -> Column:
    return Column(name, ColumnType.VARCHAR, nullable=True, length=length, charset="utf8mb4")


NAME: Final = TableId("shop", "t")
ID: Final = Column("id", ColumnType.LONG, nullable=False)
N: Final = Column("n", ColumnType.LONG, nullable=True)
V: Final = varchar("v", 20)
CHANGES: Final[dict[str, tuple[Column, ...]]] = {
    "add a column": (ID, N, V, Column("w", ColumnType.LONGLONG, nullable=True)),
    "drop a column": (ID, N),
    "rename a column": (ID, N, varchar("u", 20)),
    "move a column": (ID, V, N),
    "INT to BIGINT": (ID, Column("n", ColumnType.LONGLONG, nullable=True), V),
    "longer VARCHAR": (ID, N, varchar("v", 99)),
    "number to text": (ID, varchar("n", 9), V),
}
LEVELS: Final = ("BACKWARD", "FORWARD")
BOTH, NEITHER = (True, True), (False, False)
ONLY_BACKWARD, ONLY_FORWARD = (True, False), (False, True)
TAKEN: Final[dict[str, dict[str, tuple[bool, bool]]]] = {
    "add a column": {"avro": BOTH, "json-schema": ONLY_BACKWARD, "protobuf": ONLY_BACKWARD},
    "drop a column": {"avro": BOTH, "json-schema": ONLY_FORWARD, "protobuf": ONLY_FORWARD},
    "rename a column": {"avro": BOTH, "json-schema": NEITHER, "protobuf": NEITHER},
    "move a column": {"avro": BOTH, "json-schema": BOTH, "protobuf": BOTH},
    "INT to BIGINT": {"avro": ONLY_BACKWARD, "json-schema": BOTH, "protobuf": NEITHER},
    "longer VARCHAR": {"avro": BOTH, "json-schema": BOTH, "protobuf": BOTH},
    "number to text": {"avro": NEITHER, "json-schema": NEITHER, "protobuf": NEITHER},
}
"""Whether Apicurio takes the schema after an ALTER, at each of `LEVELS`, by format."""
FORMS: Final = ("avro", "json-schema", "protobuf")
_PAGE: Final = Path(__file__).parents[3] / "docs/formats/registered.md"


@pytest.mark.parametrize("form", FORMS)
def test_a_registry_takes_the_changes_that_the_page_names(
    form: str, registry: Apicurio, fresh_name: Callable[[str], str]
) -> None:
    found = {
        change: tuple(taken(registry, fresh_name("changed"), form, each, change) for each in LEVELS)
        for change in CHANGES
    }
    assert found == {change: forms[form] for change, forms in TAKEN.items()}


def test_the_page_has_these_answers() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    for change, forms in TAKEN.items():
        cells = [change, *(_WORDS[forms[each]] for each in FORMS)]
        assert f"| {' | '.join(cells)} |" in page


_WORDS: Final = {
    BOTH: "both",
    ONLY_BACKWARD: "`BACKWARD`",
    ONLY_FORWARD: "`FORWARD`",
    NEITHER: "refused",
}


def taken(registry: Apicurio, topic: str, form: str, level: str, change: str) -> bool:
    """Whether a subject with the table's schema takes the schema after the change."""
    settings: dict[str, Any] = {
        "name": "shop",
        "source": {"host": "h", "user": "u", "server_id": 7},
        "message": {"format": form},
        "registry": {"url": registry.url, "subject": "topic_name"},
    }
    formats = MessageFormats(InstanceSettings.model_validate(settings))

    def register(*columns: Column) -> None:
        table = table_definition(TableMap(NAME, columns, (0,)))
        formats.of(topic).rows(table, NAME, (topic,))

    register(ID, N, V)
    set_level(registry, f"{topic}-value", level)
    try:
        register(*CHANGES[change])
    except SchemaRefused:
        return False
    return True


@pytest.mark.parametrize("form", ["json-schema", pytest.param("protobuf", marks=pytest.mark.long)])
def test_a_refused_schema_stops_before_its_row_and_goes_on_when_the_registry_takes_it(
    form: str,
    mariadb: MariaDB,
    kafka: Kafka,
    registry: Apicurio,
    new_installation: NewInstallation,
    tmp_path: Path,
) -> None:
    settings = {"message": {"format": form}, "registry": {"url": registry.url}}
    installation = new_installation(mariadb, kafka, **settings)
    name = installation.name
    subject = f"{name}-{name}.t.Envelope"
    with RelayProcess(installation) as relay, Rows(registry, name, form, tmp_path) as rows:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: rows.seen(kafka) == [FIRST], "the first row")
        set_level(registry, subject, "BACKWARD")
        mariadb.execute(
            f"alter table {name}.t add column w bigint not null default 7",
            f"insert into {name}.t (id, n, v) values (2, 2, 'b')",
            f"alter table {name}.t modify n varchar(9)",
        )
        wait_until(lambda: rows.seen(kafka) == [FIRST, SECOND], "the second row")
        copy = wait_for(
            installation, roma(installation, "start", f"{name}.t").split()[0], "REFUSED"
        )
        assert subject in copy["reason"], "the copy ends, and the stream continues"
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t (id, n, v) values (3, 'x', 'c')")
        relay.wait_for("STOPPED", "SCHEMA_REFUSED")
        relay.stop()
        status = installation.status()
        assert status is not None
        assert subject in (status.reason or "")
        assert rows.seen(kafka) == [FIRST, SECOND]
        set_level(registry, subject, "NONE")
        relay.start()
        wait_until(lambda: rows.seen(kafka) == [FIRST, SECOND, THIRD], "the row after")


FIRST: Final = {"id": 1, "n": 1, "v": "a"}
SECOND: Final = {"id": 2, "n": 2, "v": "b", "w": 7}
THIRD: Final = {"id": 3, "n": "x", "v": "c", "w": 7}


class Rows:
    """Reads the rows of a topic as a consumer with the registry does; a context manager."""

    def __init__(self, registry: Apicurio, topic: str, form: str, folder: Path) -> None:
        self._client = SchemaRegistryClient({"url": registry.url})
        self._topic = topic
        self._json = JSONDeserializer(None, schema_registry_client=self._client)
        self._protobuf = ProtobufReader(self._client, topic, folder)
        self._form = form

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def seen(self, kafka: Kafka) -> list[dict[str, Any]]:
        """The rows after each change, in their order."""
        records = sorted(read_records(kafka.bootstrap, self._topic), key=lambda each: each.order)
        return [self._after(each.value or b"") for each in records]

    def _after(self, value: bytes) -> dict[str, Any]:
        if self._form == "protobuf":
            return row_of(self._protobuf.read(value), "after") or {}
        context = SerializationContext(self._topic, MessageField.VALUE)
        found: Any = self._json(value, context)
        return dict(found["after"])

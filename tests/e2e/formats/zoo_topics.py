"""One relay that publishes the type zoo in several formats, each to a topic of its own."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import tomli_w
from confluent_kafka import TopicPartition

from deploy.embedded import Kafka, SqlServer
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_clients import consumer_of
from tests.support.rows.type_zoo import replay
from tests.support.waiting import wait_until
from tests.types.server_texts import server_rows

DATABASE: Final = "zoo_types"
PARTITIONS: Final = 3
FILTER: Final = rf"{DATABASE}\..*"
Texts = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Record:
    """One message: key, value and headers as bytes; `order` is the order header.

    `place` is its partition, and its place there.
    """

    key: bytes | None
    value: bytes | None
    headers: dict[str, bytes]
    place: tuple[int, int] = (0, 0)

    @property
    def order(self) -> str:
        return self.headers["order"].decode()

    @property
    def is_copy(self) -> bool:
        """Whether a SELECT read the row."""
        return "snapshot" in self.headers


@dataclass(frozen=True, slots=True)
class Zoo:
    """What a server holds after the zoo, and the topics by format."""

    bootstrap: str
    topics: dict[str, str]
    tables: dict[str, list[Texts]]

    def records(self, form: str) -> list[Record]:
        """All messages of a format, in the order of their order keys."""
        return sorted(read_records(self.bootstrap, self.topics[form]), key=lambda each: each.order)


def publish_zoo(
    installation: Installation, database: SqlServer, kafka: Kafka, forms: dict[str, dict[str, Any]]
) -> Zoo:
    """Replay the zoo while one instance for each of `forms`, the message settings, publishes it."""
    (first,) = installation.document["instances"]
    topics = {name: f"{installation.name}_{name}" for name in forms}
    installation.document["instances"] = [
        {
            **first,
            **settings,
            "name": name,
            "source": {**first["source"], "server_id": first["source"]["server_id"] + number},
            "filter": {"filter_regex": FILTER},
            "routing": {"unmapped_db": "default_topic", "default_topic": topics[name]},
            "partition": {"partitions_num": PARTITIONS},
        }
        for number, (name, settings) in enumerate(forms.items(), 1)
    ]
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    with RelayProcess(installation):
        wait_until(lambda: states(installation) == set(forms), "all instances run")
        with database.connect() as connection:
            replay(connection, database.family)
        database.execute("create table zoo_types.last (id int primary key)")
        database.execute("insert into zoo_types.last values (1)")
        for topic in topics.values():
            wait_until(
                lambda topic=topic: any(  # type: ignore[misc]
                    b"zoo_types.last" in (each.key or b"")
                    for each in read_records(kafka.bootstrap, topic)
                ),
                f"the last row in {topic}",
            )
    return Zoo(kafka.bootstrap, topics, _tables(database))


def states(installation: Installation) -> set[str]:
    """The names of the instances that run."""
    return {each.name for each in installation.statuses() if each.state == "RUNNING"}


def read_records(bootstrap: str, topic: str) -> list[Record]:
    """Return what is visible in the topic now; nothing where it is not there yet."""
    found: list[Record] = []
    with consumer_of(bootstrap) as consumer:
        described = consumer.list_topics(topic, timeout=10).topics[topic]
        if described.error is not None:
            return found
        left = set(described.partitions)
        consumer.assign([TopicPartition(topic, each, 0) for each in left])
        while left:
            message = consumer.poll(10)
            assert message is not None, "the broker did not answer"
            if message.error() is not None:
                left.discard(message.partition() or 0)
                continue
            headers: Any = message.headers() or []
            place = message.partition() or 0, message.offset() or 0
            found.append(Record(message.key(), message.value(), dict(headers), place))
    return found


def _tables(database: SqlServer) -> dict[str, list[Texts]]:
    with database.connect() as connection:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = %s",
                (DATABASE,),
            )
            names = [str(name) for (name,) in cursor.fetchall()]
        return {name: server_rows(connection, DATABASE, name) for name in names}


class Fold:
    """The rows of each table after a stream of changes; a row that a change names must be there."""

    def __init__(self) -> None:
        self.tables: dict[str, Counter[tuple[tuple[str, str | None], ...]]] = {}

    def apply(self, table: str, before: Texts | None, after: Texts | None) -> None:
        rows = self.tables.setdefault(table, Counter())
        if before is not None:
            assert rows[_frozen(before)], f"{table} has no row {before}"
            rows[_frozen(before)] -= 1
        if after is not None:
            rows[_frozen(after)] += 1

    def differences(self, zoo: Zoo) -> list[str]:
        """What is not as the server says: a sentence for each table."""
        return [
            f"{name}: {sorted(wanted - found)} instead of {sorted(found - wanted)}"
            for name, rows in zoo.tables.items()
            if (wanted := Counter(_frozen(row) for row in rows))
            != (found := +self.tables.get(name, Counter()))
        ]


def _frozen(row: Texts) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted((name, plain(text)) for name, text in row.items()))


def plain(text: str | None) -> str | None:
    """A number without its leading zeros, which ZEROFILL and the year 0 have; other texts as they
    are.
    """
    return str(int(text)) if text is not None and text.isascii() and text.isdigit() else text

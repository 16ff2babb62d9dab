"""An admin on real Kafka whose topic has messages of two tables, as a relay writes them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from relay.envelope import FIELDS, order_text
from relay.route import TOPICS
from tests.support.relays.mapped_admin import DOCUMENTS, mapped_admin, save

PARTITIONS = 3
SECRET = "ann@example.org"
INSTANCES = [
    {
        "name": "shop-a",
        "source": {"host": "h", "user": "u"},
        "masks": [{"columns": "shop_.*\\..*\\.email", "method": "replace", "value": "x"}],
        "rules": [{"tables": "shop_.*\\..*", "without_fields": ["notes"]}],
    },
    {"name": "crm", "source": {"host": "h", "user": "u"}},
]


@dataclass
class Feed:
    """Writes committed messages of logical tables into the topic of the installation."""

    bootstrap: str
    topic: str
    number: int = 0
    state: str = "paid"
    producer: Producer | None = field(default=None, repr=False)

    def row(
        self, operation: str, key: str, old: Mapping[str, str] | None = None, table: str = "client"
    ) -> None:
        """Write one row of `shop.<table>` in a transaction of its own."""
        self.rows(operation, [key], old, table)

    def rows(
        self,
        operation: str,
        keys: list[str],
        old: Mapping[str, str] | None = None,
        table: str = "client",
    ) -> None:
        """Write rows in one transaction."""
        producer = self._opened()
        producer.begin_transaction()
        for key in keys:
            self._send(producer, operation, key, old, table)
        producer.commit_transaction(20)

    def _send(
        self,
        producer: Producer,
        operation: str,
        key: str,
        old: Mapping[str, str] | None,
        table: str,
    ) -> None:
        self.number += 1
        row = {"id": key, "state": self.state, "email": SECRET, "notes": "private"}
        value = {
            **dict.fromkeys(FIELDS),
            "data": [row],
            "database": "shop",
            "table": table,
            "type": operation,
            "isDdl": False,
            "old": None if old is None else [dict(old)],
            "pkNames": ["id"],
            "mysqlType": {"id": "bigint", "state": "varchar(10)", "email": "varchar(120)"},
        }
        producer.produce(
            self.topic,
            json.dumps(value),
            json.dumps([f"shop.{table}", key], separators=(",", ":")),
            partition=self.number % PARTITIONS,
            headers=[
                ("order", order_text(1_795_427_528_131, self.number).encode()),
                ("tag", table.encode()),
                ("real", f"shop_01.{table}".encode()),
            ],
        )

    def _opened(self) -> Producer:
        if self.producer is None:
            self.producer = Producer(
                {"bootstrap.servers": self.bootstrap, "transactional.id": f"{self.topic}.feed"}
            )
            self.producer.init_transactions(20)
        return self.producer


@contextmanager
def peeked_admin(
    hosts: str,
    bootstrap: str,
    name: str,
    kafka: Mapping[str, object] | None = None,
    **more: object,
) -> Iterator[tuple[httpx.Client, Feed]]:
    """Serve an admin whose mapping sends the database shop to a topic of three partitions.

    `kafka` and `more` are settings beside its own.
    """
    topics = AdminClient({"bootstrap.servers": bootstrap})
    topics.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(60)
    one = {"bootstrap_servers": bootstrap, "replication_factor": 1, "min_insync_replicas": 1}
    settings = {"kafka": {**one, **(kafka or {})}, "instances": INSTANCES, **more}
    with mapped_admin(hosts, name, **settings) as client:
        topic = [{"logicDb": "shop", "topic": name}, {"logicDb": "crm", "topic": f"{name}-later"}]
        save(client, {**DOCUMENTS, TOPICS: topic}, comment="topics", base=1)
        yield client, Feed(bootstrap, name)

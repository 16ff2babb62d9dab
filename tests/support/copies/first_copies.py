"""The inputs of bootstrap and reconcile other than a source: a position of the instance, a mapping,
a configuration.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from deploy.embedded import Kafka, SqlServer
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.position import KafkaPositionStore
from relay.publish import TransactionalProducer
from relay.settings import KafkaSettings, TransactionSettings
from spark_jobs.config.job import JobSettings
from spark_jobs.runtime.shutdown import Shutdown

NOON_MS = 1_700_000_000_000


class ShutdownAfterNotes(Shutdown):
    """A shutdown that is requested as soon as `lines` files of notes exist."""

    def __init__(self, notes: Path, lines: int) -> None:
        super().__init__()
        self._notes, self._lines = notes, lines

    @property
    def requested(self) -> bool:
        return len(list(self._notes.rglob("part-*"))) >= self._lines

    def listen(self) -> None:
        """Do nothing: the process of the test keeps its signal handlers."""


def publish_position(
    kafka: Kafka,
    installation: str,
    instance: str,
    server: SqlServer,
    order: int,
    *,
    server_id: int | None = None,
    rows: str = "",
) -> None:
    """Write a position record: the instance has published everything that the server, or another
    one of that id, has committed. Create the topic.

    `rows`: digest of the rules by which it publishes, as in its record.
    """
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    store = KafkaPositionStore(settings, installation, instance)
    store.ensure_topic()
    if TopicAdmin(settings).state(installation) is None:
        TopicAdmin(settings).create(TopicSpec(installation, 1, 1))
    with closing(
        TransactionalProducer(settings, TransactionSettings(), f"{installation}.{instance}")
    ) as producer:
        producer.open()
        producer.commit(store.message(_record(server, order, server_id, rows))).result(60)


def job_settings(
    kafka: Kafka,
    folder: Path,
    installation: str,
    mapping: Mapping[str, Sequence[Mapping[str, str]]],
    *sources: Mapping[str, Any],
    **more: Any,
) -> JobSettings:
    """A configuration with all of its files in one folder."""
    documents = folder / "mapping"
    documents.mkdir(exist_ok=True)
    for name, body in mapping.items():
        (documents / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    document = {
        "kafka": {
            "bootstrap_servers": kafka.bootstrap,
            "topics": [installation],
            "patience_seconds": 10,
        },
        "copy_root": str(folder / "copy"),
        "shuffle_partitions": 1,
        "installation": installation,
        "mapping": [str(documents)],
        "sources": list(sources),
        "bootstrap": {"settle_seconds": 0, "range_rows": 4, "parallel": 2},
        "reconcile": {"patience_seconds": 1, "bucket_rows": 2, "range_rows": 4},
    }
    return JobSettings.model_validate({**document, **more})


def source(instance: str, server: SqlServer) -> dict[str, Any]:
    """Return the entry of `[[sources]]` for a server."""
    return {
        "instance": instance,
        "host": server.host,
        "port": server.port,
        "user": server.relay,
        "password": server.relay,
    }


def _record(server: SqlServer, order: int, server_id: int | None, rows: str) -> PositionRecord:
    facts = dict(_facts(server))
    identity = SourceIdentity(
        "" if server_id else str(facts.get("server_uuid", "")),
        server_id or int(facts["server_id"]),
        0,
    )
    place = SourcePosition(
        BinlogPosition("binlog.000001", 4), str(facts["gtid_set"]).replace("\n", ""), identity
    )
    return PositionRecord(place, OrderPair(NOON_MS, order), 1, NOON_MS, rows=rows)


def _facts(server: SqlServer) -> Iterator[tuple[str, Any]]:
    mariadb = server.family == "mariadb"
    names = {
        "server_id": "@@server_id",
        "gtid_set": "@@GLOBAL.gtid_binlog_pos" if mariadb else "@@GLOBAL.gtid_executed",
    }
    if not mariadb:
        names["server_uuid"] = "@@server_uuid"
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(names.values())}")
        yield from zip(names, cursor.fetchone(), strict=True)

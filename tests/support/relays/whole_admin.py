"""An admin of an installation that has content for every page."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from time import time

import httpx

from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.new_producer import new_producer
from relay.position import KafkaPositionStore
from relay.settings import KafkaSettings, RelaySettings
from relay.state import (
    DroppedName,
    FailoverView,
    InstanceStatus,
    InstanceStore,
    Membership,
    Paths,
    RelayMember,
    RunnableInstance,
    ServerView,
)
from relay.zk import Session
from tests.support.relays.admin_server import admin_settings
from tests.support.relays.kept_back import VALUE, put_letter
from tests.support.relays.peeked import INSTANCES, peeked_admin
from tests.support.relays.zookeeper_sessions import session_with

PASSWORD = "correct horse battery"
_NAMES = ("shop-a", "crm", "late")
_GTIDS = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-90"
_RECORD = Path(__file__).parents[2] / "golden" / "position_records" / "position_record.1.json"

_NO_DATABASE = "no database mapping lists its database."
_DROPPED = (
    DroppedName("metrics.orders_2027", _NO_DATABASE, 4118, 0, "shop.orders", 10, 12),
    DroppedName("metrics._lead_gho", _NO_DATABASE, 96204),
)


@contextmanager
def whole_admin(hosts: str, bootstrap: str, name: str) -> Iterator[httpx.Client]:
    """Serve the admin: two instances of its file and one of run time, two relays, rows, a dead
    letter, a position, a user with a token, and a table copy.
    """
    with (
        session_with(hosts) as session,
        peeked_admin(hosts, bootstrap, name) as (client, feed),
    ):
        _living(session, Paths(f"/roma/{name}"))
        for number in range(12):
            feed.row("INSERT", f"9021779{number}")
        feed.row("UPDATE", "90217744", {"state": "open"})
        settings = admin_settings(
            hosts, name, kafka=_kafka(bootstrap).model_dump(), instances=INSTANCES
        )
        put_letter(settings.kafka, settings.installation, "shop-a", VALUE)
        _commit_a_position(settings)
        _write(client)
        yield client


def _kafka(bootstrap: str) -> KafkaSettings:
    return KafkaSettings(bootstrap_servers=bootstrap, replication_factor=1, min_insync_replicas=1)


def _living(session: Session, paths: Paths) -> None:
    now_ms = int(time() * 1000)
    for number in (1, 2):
        member = RelayMember(
            f"rack-a-0{number}-{2210 + number}",
            f"rack-a-0{number}",
            2210 + number,
            "",
            _NAMES,
            now_ms - 86_400_000,
            f"s{number}",
            4000,
            tuple(RunnableInstance(each) for each in _NAMES),
        )
        Membership(session, paths).announce(member)
    store = InstanceStore(session, paths)
    store.put_dropped("shop-a", _DROPPED)
    for name in _NAMES:
        session.create_ephemeral(paths.leader(name), b'{"relay": "rack-a-01-2211"}')
        status = InstanceStatus(
            name,
            "RUNNING",
            relay="rack-a-01-2211",
            lag_seconds=0.4,
            position_file="mysql-bin.001042",
            position_offset=771204133,
            execute_time=now_ms,
            execute_position=13511071186682017,
            updated_ms=now_ms,
        )
        store.put_status(status)
    reason = "No table mapping lists crm_02.lead_archive."
    remedy = "add the name to the mapping documents, or set unmapped_table to drop."
    store.put_status(
        InstanceStatus("crm", "STOPPED", "UNMAPPED_NAME", reason, remedy, "rack-a-01-2211")
    )
    servers = (
        ServerView("master", "mysql-shop-1:3306", True, executed=_GTIDS, behind=0),
        ServerView("standby", "mysql-shop-2:3306", True, executed=_GTIDS, behind=0),
    )
    store.failover.put_view("shop-a", FailoverView("master", published=_GTIDS, servers=servers))


def _commit_a_position(settings: RelaySettings) -> None:
    record = PositionRecord.from_bytes(_RECORD.read_bytes())
    record = replace(record, partitions={settings.installation: 3}, split=None, replay=None)
    store = KafkaPositionStore(settings.kafka, settings.installation, "shop-a")
    store.ensure_topic()
    instance = settings.instances[0]
    with closing(new_producer(settings.installation, settings.kafka, instance)) as producer:
        producer.open()
        producer.commit(store.message(record)).result(60)


def _write(client: httpx.Client) -> None:
    late = {"source": {"host": "mysql2", "user": "relay", "server_id": 7}}
    _put(client, "/api/v1/instances/late/settings", late)
    for name, role in (("ann", "admin"), ("ben", "viewer")):
        tag = client.get("/api/v1/users").headers["etag"]
        user = {"role": role, "password": PASSWORD, "values": role == "admin"}
        _put(client, f"/api/v1/users/{name}", user, {"If-Match": tag})
    _put(client, "/api/v1/tokens/grafana", {"owner": "ben", "role": "viewer", "days": 3})
    copy = client.post("/api/v1/snapshots", json={"tables": ["shop.client"]})
    assert copy.status_code == 202, copy.text


def _put(
    client: httpx.Client,
    path: str,
    body: Mapping[str, object],
    headers: Mapping[str, str] | None = None,
) -> None:
    answer = client.put(path, json=body, headers=headers)
    assert answer.status_code in (200, 201), answer.text

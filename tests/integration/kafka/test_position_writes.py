"""Changes of a position by hand on a real broker: fenced, in one transaction with their entry, and
kept in a format that others read.
"""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from deploy.embedded import DebianMariaDB, Kafka, MariaDB, ZooKeeper
from relay.audit import AuditTrail
from relay.errors import Fenced, MoveRefused, PositionNewer, SourceUnreachable
from relay.ha import Election
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity
from relay.model.records.position_record import FORMAT, PositionRecord
from relay.operations import InstancePosition, Who, instance_of
from relay.operations.instances.followed_server import followed_position
from relay.pipeline.delivery.new_producer import (
    new_producer,
    uses_second_id,
)
from relay.position import KafkaPositionStore
from relay.settings import InstanceSettings, RelaySettings
from relay.state import Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with

_GOLDEN = Path(__file__).parents[2] / "golden" / "position_records"
FORMER = sorted(_GOLDEN.glob("position_record.*.json"))
RECORD = PositionRecord.from_bytes((_GOLDEN / "position_record.1.json").read_bytes())
GTID = "3e11fa47-71ca-11e1-9e33-c80aa9429562:90"
WHO = Who("ann", "why")


@pytest.fixture
def settings(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> RelaySettings:
    source = {"host": "127.0.0.1", "port": 1, "user": "nobody", "server_id": 1}
    document: dict[str, Any] = {
        "installation": fresh_name("writes"),
        "kafka": {
            "bootstrap_servers": kafka.bootstrap,
            "replication_factor": 1,
            "min_insync_replicas": 1,
        },
        "zookeeper": {"hosts": zookeeper.hosts, "session_timeout_seconds": 4},
        "instances": [
            {"name": "from", "source": source},
            {"name": "to", "source": source},
            {"name": "two", "source": source, "transaction": {"producers": 2}},
            {"name": "loose", "source": source, "transaction": {"delivery": "at_least_once"}},
        ],
    }
    return RelaySettings.model_validate(document)


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


def store_of(settings: RelaySettings, name: str) -> KafkaPositionStore:
    return KafkaPositionStore(settings.kafka, settings.installation, name)


def position_of(settings: RelaySettings, session: Session, name: str) -> InstancePosition:
    return InstancePosition(settings, instance_of(settings, name), session)


def commit(settings: RelaySettings, name: str, record: PositionRecord) -> None:
    store = store_of(settings, name)
    store.ensure_topic()
    with closing(
        new_producer(settings.installation, settings.kafka, instance_of(settings, name))
    ) as producer:
        producer.open()
        producer.commit(store.message(record)).result(60)


def test_a_leader_is_fenced_and_reads_what_was_written(
    settings: RelaySettings, session: Session
) -> None:
    store = store_of(settings, "to")
    commit(settings, "to", RECORD)
    with closing(
        new_producer(settings.installation, settings.kafka, instance_of(settings, "to"))
    ) as leader:
        leader.open()
        leader.send(OutboundMessage(store.topic, 0, b"row", b"of the leader", ()))
        assert position_of(settings, session, "to").skip(GTID, WHO) == (GTID,)
        with pytest.raises(Fenced):
            leader.commit(store.message(replace(RECORD, epoch=7))).result(60)
    assert store.read() == replace(RECORD, skips=(GTID,))
    (entry,) = AuditTrail(settings.kafka, settings.installation).entries(10)
    assert (entry.actor, entry.act, entry.subject, entry.comment, entry.after["skips"]) == (
        "ann",
        "transaction.skip",
        "to",
        "why",
        [GTID],
    )


def test_a_leader_of_two_ids_is_fenced_on_both(settings: RelaySettings, session: Session) -> None:
    store = store_of(settings, "two")
    store.ensure_topic()
    used = replace(RECORD, second_id=True)
    with closing(
        new_producer(settings.installation, settings.kafka, instance_of(settings, "two"))
    ) as leader:
        leader.open()
        leader.commit(store.message(used)).result(60)
        leader.commit_overlapping(store.message(used), lambda: None).result(60)
        leader.send(OutboundMessage(store.topic, 0, b"row", b"under the second id", ()))
        assert position_of(settings, session, "two").skip(GTID, WHO) == (GTID,)
        with pytest.raises(Fenced):
            leader.commit(store.message(replace(used, epoch=7))).result(60)
    assert store.read() == replace(used, skips=(GTID,))


@pytest.mark.parametrize(
    ("transaction", "uses"),
    [
        ({}, False),
        ({"producers": 2}, True),
        ({"delivery": "at_least_once"}, True),
        ({"delivery": "at_least_once", "producers": 2}, True),
    ],
)
def test_what_records_after_one_of_two_ids_say(transaction: dict[str, Any], uses: bool) -> None:
    source = {"host": "127.0.0.1", "user": "nobody", "server_id": 1}
    instance = InstanceSettings.model_validate(
        {"name": "two", "source": source, "transaction": transaction}
    )
    used = replace(RECORD, second_id=True)
    assert uses_second_id(instance, used) is uses
    assert uses_second_id(instance, RECORD) is (transaction == {"producers": 2})


def test_what_is_refused_leaves_no_trace(settings: RelaySettings, session: Session) -> None:
    commit(settings, "to", RECORD)
    with pytest.raises(MoveRefused):
        position_of(settings, session, "to").unskip(GTID, WHO)
    assert store_of(settings, "to").read() == RECORD
    assert AuditTrail(settings.kafka, settings.installation).entries(10) == ()


def test_a_floor_is_raised_above_another_instance(
    settings: RelaySettings, session: Session
) -> None:
    commit(settings, "to", RECORD)
    target = position_of(settings, session, "to")
    for name, reason in (("from", "no position record"), ("stranger", "no position record")):
        with pytest.raises(MoveRefused, match=reason):
            target.raise_floor(name, WHO)
    commit(settings, "from", replace(RECORD, order=OrderPair(5, RECORD.order.execute_position + 9)))
    raised = OrderPair(RECORD.order.execute_time, RECORD.order.execute_position + 9)
    assert target.raise_floor("from", WHO).order == raised
    (entry,) = AuditTrail(settings.kafka, settings.installation).entries(10)
    assert (entry.act, entry.before != entry.after) == ("position.raise-floor", True)
    assert target.show().record == replace(RECORD, order=raised, epoch=RECORD.epoch + 1)


def test_at_least_once_knows_no_fence(settings: RelaySettings, session: Session) -> None:
    commit(settings, "loose", RECORD)
    paths = Paths.of(settings.zookeeper, settings.installation)
    leader = Election(session, paths.leader("loose"), "relay-1")
    assert leader.wait_until_leading(threading.Event(), 10)
    with pytest.raises(MoveRefused, match="relay-1 leads loose"):
        position_of(settings, session, "loose").skip(GTID, WHO)
    leader.resign()
    assert position_of(settings, session, "loose").skip(GTID, WHO) == (GTID,)


def test_records_of_every_former_version_are_read_and_a_newer_one_is_refused_by_name(
    settings: RelaySettings,
) -> None:
    store = store_of(settings, "to")
    store.ensure_topic()
    stranger = Producer({"bootstrap.servers": settings.kafka.bootstrap_servers})
    for file in FORMER:
        stranger.produce(store.topic, file.read_bytes(), b"to", 0)
        assert stranger.flush(20) == 0
        assert store.read() == PositionRecord.from_bytes(file.read_bytes())
    stranger.produce(
        store.topic,
        RECORD.to_bytes().replace(b'"format":1', b'"format":%d' % (FORMAT + 1)),
        b"to",
        0,
    )
    assert stranger.flush(20) == 0
    with pytest.raises(PositionNewer):
        store.read()


def test_a_place_is_asked_of_the_server_that_the_position_belongs_to(
    settings: RelaySettings, mariadb: MariaDB, mariadb_10_11: DebianMariaDB
) -> None:
    login = {"user": "relay", "password": "relay", "server_id": 77}
    standby = {"host": mariadb.host, "port": mariadb.port}
    source = {"host": mariadb_10_11.host, "port": mariadb_10_11.port, **login, "standby": standby}
    instance = InstanceSettings.model_validate({"name": "to", "source": source})
    with closing(mariadb.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("select @@server_id")
        identity = SourceIdentity("", int((cursor.fetchone() or (0,))[0]), 0)
    followed = replace(RECORD.source, identity=identity)
    start = BinlogPosition("binlog.000001", 4)
    assert followed_position(instance.source, None, start).settings.port == mariadb_10_11.port
    assert followed_position(instance.source, followed, start).settings.port == mariadb.port
    away = instance.source.model_copy(update={"port": 1})
    assert (
        followed_position(away, followed, start).target.position.identity.server_id
        == identity.server_id
    )
    with pytest.raises(SourceUnreachable):
        followed_position(away.model_copy(update={"standby": None}), followed, start)
    with pytest.raises(MoveRefused, match="binlog"):
        followed_position(instance.source, followed, BinlogPosition("binlog.999999", 4))

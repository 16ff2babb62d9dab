"""Documents put back over present ones: facts that relays noted stay, and the audit trail has the
act before the first write.
"""

from collections.abc import Iterator

import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditEntry, AuditTrail, DelayedTrail
from relay.errors import BrokerUnreachable, StoreUnreachable
from relay.model.names.mapping_name import MappingName, RecordedSets, digest_of
from relay.operations import Who, restore_documents, restore_preview
from relay.settings import RelaySettings
from relay.state import DocumentStore, MappingStore, Note, Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with, wipe

WHO = Who("ann", "drill")
DOCUMENTS = (
    "definitions/late",
    "instances/shop/failover/history",
    "instances/shop/started",
    "key-forms/orders/shop.orders",
    "placement",
    "topics/orders",
)


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture
def settings(zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName) -> RelaySettings:
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    return RelaySettings.model_validate(
        {
            "installation": fresh_name("restored"),
            "kafka": brokers,
            "zookeeper": {"hosts": zookeeper.hosts},
        }
    )


@pytest.fixture
def acts(settings: RelaySettings) -> Iterator[DelayedTrail]:
    acts = DelayedTrail(AuditTrail(settings.kafka, settings.installation))
    yield acts
    acts.close(10)


@pytest.fixture
def store(settings: RelaySettings, session: Session) -> DocumentStore:
    """An installation whose documents all say `then`."""
    paths = Paths.of(settings.zookeeper, settings.installation)
    write_all(settings, session, b"then")
    return DocumentStore(session, paths, settings.installation)


def write_all(settings: RelaySettings, session: Session, value: bytes) -> None:
    base = Paths.of(settings.zookeeper, settings.installation).base
    for path in DOCUMENTS:
        session.put(f"{base}/{path}", value)


def noted(settings: RelaySettings) -> list[AuditEntry]:
    return list(AuditTrail(settings.kafka, settings.installation).entries(10))


def test_present_facts_stay_and_missing_ones_come_back(
    settings: RelaySettings, session: Session, store: DocumentStore, acts: DelayedTrail
) -> None:
    backup = store.take()
    write_all(settings, session, b"now")
    session.delete(f"{Paths.of(settings.zookeeper, settings.installation).base}/topics/orders")

    preview = restore_preview(settings, session, backup)
    assert preview.changes.kept == (
        "instances/shop/failover/history",
        "instances/shop/started",
        "key-forms/orders/shop.orders",
    )
    assert "Different now, and kept: 3. These documents are mapping sets" in " ".join(
        preview.sentences
    )
    restore_documents(settings, session, backup, WHO, acts, over_present=True)
    assert store.take().nodes == {
        "definitions/late": b"then",
        "instances/shop/failover/history": b"now",
        "instances/shop/started": b"now",
        "key-forms/orders/shop.orders": b"now",
        "placement": b"then",
        "topics/orders": b"then",
    }
    acts.close(10)
    end, begun = noted(settings)
    assert (begun.act, begun.after["to_write"], begun.after["kept"]) == ("restore.begun", 3, 3)
    assert (end.act, end.after["written"], end.comment) == ("restore", 3, "drill")


def test_the_trail_says_how_far_a_restore_came_that_failed(
    settings: RelaySettings,
    session: Session,
    store: DocumentStore,
    acts: DelayedTrail,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backup = store.take()
    write_all(settings, session, b"now")
    put = session.put

    def put_until_placement(path: str, value: bytes) -> None:
        if path.endswith("placement"):
            raise StoreUnreachable("ZooKeeper is away.")
        put(path, value)

    monkeypatch.setattr(session, "put", put_until_placement)
    with pytest.raises(StoreUnreachable):
        restore_documents(settings, session, backup, WHO, acts, over_present=True)
    acts.close(10)
    end, begun = noted(settings)
    assert (begun.act, begun.after["to_write"]) == ("restore.begun", 2)
    assert (end.act, end.after["written"]) == ("restore.failed", 1)
    assert end.after["last_written"] == ["definitions/late"]


@pytest.mark.parametrize(
    ("recorded", "is_apart"),
    [
        (set(), False),
        ({MappingName(1, digest_of({"t": "[1]"}))}, True),
        ({MappingName(1, digest_of({"t": "[1]"})), MappingName(2, digest_of({"t": "[8]"}))}, False),
        ({MappingName(1, "")}, False),
    ],
    ids=["nothing published", "another store", "present sets published under", "older relay"],
)
def test_a_restore_over_sets_that_no_record_names_says_so(
    settings: RelaySettings, session: Session, recorded: set[MappingName], is_apart: bool
) -> None:
    paths = Paths.of(settings.zookeeper, settings.installation)
    sets, store = MappingStore(session, paths), DocumentStore(session, paths, settings.installation)
    sets.save(sets.current(), {"t": "[1]"}, Note())
    backup = store.take()
    wipe(session, paths.base)
    for body in ("[9]", "[8]"):
        sets.save(sets.current(), {"t": body}, Note())
    changes = store.check(backup, over_present=True)
    store.write(backup, changes, recorded=RecordedSets(2, frozenset(recorded)))
    active = sets.current()
    assert (active.number, active.bodies, active.record.is_apart) == (
        3,
        {"t": "[1]"},
        is_apart,
    )


def test_nothing_is_written_before_kafka_has_the_entry(
    settings: RelaySettings,
    session: Session,
    store: DocumentStore,
    acts: DelayedTrail,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backup = store.take()
    write_all(settings, session, b"now")

    def away(*_: object) -> None:
        raise BrokerUnreachable("Kafka is away.")

    monkeypatch.setattr(AuditTrail, "append", away)
    with pytest.raises(BrokerUnreachable):
        restore_documents(settings, session, backup, WHO, acts, over_present=True)
    assert set(store.take().nodes.values()) == {b"now"}

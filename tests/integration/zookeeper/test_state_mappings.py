"""Mapping sets on a real ZooKeeper: one winner, nothing overwritten, what was put there by hand."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from deploy.embedded import ZooKeeper
from relay.errors import MappingRefused, NodeMissing, StoreUnreachable, VersionConflict
from relay.state import SAVE_LIMIT_BYTES, MappingStore, Note, Paths, StoredSet
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

NOTE = Note("ann", "first", 1_700_000_000_000)


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture
def paths(fresh_name: FreshName) -> Paths:
    return Paths(f"/{fresh_name('state')}")


@pytest.fixture
def store(session: Session, paths: Paths) -> MappingStore:
    return MappingStore(session, paths)


def test_an_empty_installation_has_the_empty_set(store: MappingStore) -> None:
    assert store.current() == StoredSet.empty()
    assert store.number() == 0
    assert (store.set_numbers(), store.document_versions("dbs")) == ((), ())


def test_a_save_writes_what_changed_and_keeps_the_rest(store: MappingStore) -> None:
    first = store.save(store.current(), {"dbs": "[1]", "tbs": "[2]"}, NOTE)
    second = store.save(first, {"dbs": "[1]", "tbs": "[3]\n", "tags": "[]"}, Note("bob", "more", 2))
    assert (first.number, second.number) == (1, 2)
    assert second.record.versions == {"dbs": 1, "tbs": 2, "tags": 1}
    assert store.current() == second
    assert store.load(1) == first, "an older set stays as it was"
    assert store.document_versions("tbs") == (2, 1)
    assert store.document("tbs", 2).note == Note("bob", "more", 2)
    assert store.document("tbs", 1).body == "[2]"


def test_a_save_without_a_difference_changes_nothing(store: MappingStore) -> None:
    first = store.save(store.current(), {"dbs": "[1]"}, NOTE)
    assert store.save(first, {"dbs": "[1]"}, NOTE) is first
    assert store.set_numbers() == (1,)


def test_a_document_left_out_leaves_the_set_and_keeps_its_history(store: MappingStore) -> None:
    first = store.save(store.current(), {"dbs": "[1]", "tbs": "[2]"}, NOTE)
    second = store.save(first, {"dbs": "[1]"}, NOTE)
    third = store.save(second, {"dbs": "[1]", "tbs": "[2]"}, NOTE)
    assert store.current().bodies == {"dbs": "[1]", "tbs": "[2]"}
    assert (second.record.versions, third.record.versions["tbs"]) == ({"dbs": 1}, 2)


def test_an_edit_of_a_set_that_is_no_longer_active_is_refused(store: MappingStore) -> None:
    base = store.current()
    store.save(base, {"dbs": "[1]"}, NOTE)
    with pytest.raises(VersionConflict, match="set 1 is active"):
        store.save(base, {"dbs": "[2]"}, NOTE)
    with pytest.raises(VersionConflict):
        store.roll_back(1, 0, NOTE)
    assert store.current().bodies == {"dbs": "[1]"}


def test_of_many_who_save_at_once_one_wins(
    zookeeper: ZooKeeper, store: MappingStore, paths: Paths
) -> None:
    rounds, writers = 10, 6
    for number in range(rounds):
        base = store.current()
        barrier = threading.Barrier(writers)

        def save(
            writer: int, base: StoredSet = base, barrier: threading.Barrier = barrier
        ) -> int | None:
            with session_with(zookeeper.hosts) as own:
                barrier.wait(20)
                try:
                    return (
                        MappingStore(own, paths)
                        .save(base, {"dbs": f"[{writer}]"}, Note(str(writer)))
                        .number
                    )
                except VersionConflict:
                    return None

        with ThreadPoolExecutor(writers) as pool:
            outcomes = list(pool.map(save, range(number * writers, (number + 1) * writers)))
        winners = [
            number * writers + index
            for index, outcome in enumerate(outcomes)
            if outcome is not None
        ]
        assert len(winners) == 1
        assert store.current().bodies == {"dbs": f"[{winners[0]}]"}
    assert store.set_numbers() == tuple(range(rounds, 0, -1))
    assert store.document_versions("dbs") == tuple(range(rounds, 0, -1)), (
        "a loser leaves nothing behind"
    )


def test_a_roll_back_is_a_new_set_with_an_older_ones_documents(store: MappingStore) -> None:
    first = store.save(store.current(), {"dbs": "[1]"}, NOTE)
    store.save(first, {"dbs": "[2]"}, NOTE)
    back = store.roll_back(1, 2, Note("bob", "it was wrong", 3))
    assert (back.number, back.record.restored_from, back.record.versions) == (3, 1, {"dbs": 1})
    assert store.current() == back
    assert store.current().bodies == first.bodies
    assert store.document_versions("dbs") == (2, 1), "no document was written"
    empty = store.roll_back(0, 3, NOTE)
    assert (empty.number, empty.bodies) == (4, {})
    with pytest.raises(NodeMissing, match="no mapping set 99"):
        store.roll_back(99, 4, NOTE)


def test_the_largest_save_passes_and_a_larger_one_is_refused_with_a_sentence(
    store: MappingStore,
) -> None:
    room = SAVE_LIMIT_BYTES - 400
    largest = store.save(store.current(), {"dbs": "x" * room, "tbs": ""}, NOTE)
    assert len(store.current().bodies["dbs"]) == room
    with pytest.raises(MappingRefused, match=r"has 10\d+ bytes") as caught:
        store.save(largest, {"dbs": "x" * 500_000, "tbs": "y" * 500_001}, NOTE)
    assert caught.value.data_id == "tbs"
    assert store.number() == 1


def test_a_new_set_is_signalled_and_an_outage_loses_no_signal(
    zookeeper: ZooKeeper, store: MappingStore, paths: Paths
) -> None:
    with (
        TcpGate("127.0.0.1", zookeeper.port) as gate,
        session_with(gate.address, 4, answer_seconds=1) as relay_session,
    ):
        relay = MappingStore(relay_session, paths)
        changed = threading.Event()
        relay.watch(changed)
        assert relay.number() == 0
        saved = store.save(store.current(), {"dbs": "[1]"}, NOTE)
        assert changed.wait(60)
        changed.clear()
        assert relay.current() == saved
        gate.shut()
        wait_until(lambda: not relay_session.connected, "the outage")
        second = store.save(saved, {"dbs": "[2]"}, NOTE)
        with pytest.raises(StoreUnreachable):
            relay.number()
        gate.reopen()
        assert changed.wait(60)
        assert relay.current() == second


def test_a_save_while_cut_off_changes_nothing(
    zookeeper: ZooKeeper, store: MappingStore, paths: Paths
) -> None:
    with (
        TcpGate("127.0.0.1", zookeeper.port) as gate,
        session_with(gate.address, 4, answer_seconds=0.5) as cut_off,
    ):
        mine = MappingStore(cut_off, paths)
        base = mine.current()
        gate.shut()
        wait_until(lambda: not cut_off.connected, "the outage")
        with pytest.raises(StoreUnreachable):
            mine.save(base, {"dbs": "[1]"}, NOTE)
        gate.reopen()
        wait_until(lambda: cut_off.connected, "the reconnect")
        assert store.number() == 0
        assert mine.save(base, {"dbs": "[1]"}, NOTE).number == 1


Break = Callable[[Session, Paths], None]


def _pointer_to_nothing(session: Session, paths: Paths) -> None:
    session.put(paths.mapping_pointer, b'{"set": 12}')


def _set_without_documents(session: Session, paths: Paths) -> None:
    session.put(paths.mapping_set(12), b"{}")
    session.put(paths.mapping_pointer, b"12")


def _set_with_a_missing_document(session: Session, paths: Paths) -> None:
    session.put(paths.mapping_set(12), json.dumps({"documents": {"dbs": 77}}).encode())
    session.put(paths.mapping_pointer, b"12")


@pytest.mark.parametrize(
    "damage", [_pointer_to_nothing, _set_without_documents, _set_with_a_missing_document]
)
def test_a_broken_set_is_named_and_can_be_left(
    session: Session, store: MappingStore, paths: Paths, damage: Break
) -> None:
    store.save(store.current(), {"dbs": "[1]"}, NOTE)
    damage(session, paths)
    assert store.number() == 12
    with pytest.raises(MappingRefused, match="12"):
        store.current()
    assert store.load(1).bodies == {"dbs": "[1]"}, "the last good set can still be loaded"
    assert store.roll_back(1, 12, NOTE).number == 13
    assert store.current().bodies == {"dbs": "[1]"}


def test_a_broken_set_can_be_replaced_by_a_whole_one(
    session: Session, store: MappingStore, paths: Paths
) -> None:
    _set_without_documents(session, paths)
    assert store.save(StoredSet.empty(12), {"dbs": "[9]"}, NOTE).number == 13
    assert store.current().bodies == {"dbs": "[9]"}


def test_an_unreadable_pointer_is_named_and_can_be_replaced(
    session: Session, store: MappingStore, paths: Paths
) -> None:
    store.save(store.current(), {"dbs": "[1]"}, NOTE)
    session.put(paths.mapping_pointer, b"twelve")
    with pytest.raises(MappingRefused, match="pointer"):
        store.current()
    assert store.roll_back(1, None, NOTE).number == 2
    assert store.current().bodies == {"dbs": "[1]"}


def test_a_document_and_set_put_there_by_hand_are_read(
    session: Session, store: MappingStore, paths: Paths
) -> None:
    session.put(paths.mapping_document("dbs", 1), b'[{"logicDb":"a","realDbs":"b"}]')
    session.put(paths.mapping_set(1), b'{"documents":{"dbs":1}}')
    session.put(paths.mapping_pointer, b"1")
    assert store.current().bodies == {"dbs": '[{"logicDb":"a","realDbs":"b"}]'}


def test_a_pointer_moved_back_by_hand_does_not_make_numbers_repeat(
    session: Session, store: MappingStore, paths: Paths
) -> None:
    first = store.save(store.current(), {"dbs": "[1]"}, NOTE)
    store.save(first, {"dbs": "[2]"}, NOTE)
    session.put(paths.mapping_pointer, b"1")
    third = store.save(store.current(), {"dbs": "[3]"}, NOTE)
    assert (third.number, third.record.versions) == (3, {"dbs": 3})

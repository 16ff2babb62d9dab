"""Which mapping set is activated, for every state of the store, of the position record and of
the relay's memory.
"""

import json
import re
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import (
    BatchAborted,
    MappingLost,
    MappingMissing,
    MappingRefused,
    NodeMissing,
    StoreUnreachable,
    TopicRefused,
)
from relay.model.names.mapping_name import MappingName, digest_of
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import PositionRecord, SplitProgress
from relay.model.table import TableId
from relay.pipeline.active_mapping import ActiveMapping
from relay.route import Destination
from relay.settings import RoutingSettings
from relay.state import Note, StoredSet
from relay.state.mappings.records import SetRecord

DBS, TOPICS = "com.pajk.Roma.dbs", "com.pajk.Roma.topics"
RECORD = PositionRecord.from_bytes(
    (
        Path(__file__).parents[2] / "golden" / "position_records" / "position_record.1.json"
    ).read_bytes()
)


def to(topic: str) -> dict[str, str]:
    """Documents that send database `shop` to this topic."""
    return {
        DBS: json.dumps([{"logicDb": "s", "realDbs": "shop"}]),
        TOPICS: json.dumps([{"logicDb": "s", "topic": topic}]),
    }


ONLY_TOPICS = {TOPICS: to("a")[TOPICS]}
BROKEN = {DBS: "["}


class Sets:
    """A store in memory: documents by number, and the pointer."""

    def __init__(self, *sets: dict[str, str]) -> None:
        self.sets = dict(enumerate(sets, 1))
        self.pointer = len(sets)
        self.away = False

    def number(self) -> int:
        self._answer()
        return self.pointer

    def current(self) -> StoredSet:
        return self.load(self.number())

    def load(self, number: int) -> StoredSet:
        self._answer()
        if not number:
            return StoredSet.empty()
        if number not in self.sets:
            raise NodeMissing(f"There is no mapping set {number}.")
        return StoredSet(SetRecord(number, {}, Note()), self.sets[number])

    def _answer(self) -> None:
        if self.away:
            raise StoreUnreachable("away")


def named(number: int, documents: dict[str, str] | None = None) -> PositionRecord:
    """A record that names this set; without documents as a relay of before wrote it."""
    return replace(
        RECORD,
        mapping_set=number,
        mapping_digest=digest_of(documents) if documents is not None else "",
    )


def half(
    number: int, documents: dict[str, str] | None = None, record: PositionRecord | None = None
) -> PositionRecord:
    """The same, with a transaction that is half published under the set."""
    digest = digest_of(documents) if documents is not None else ""
    split = SplitProgress(BinlogPosition("b.1", 4), "", 3, 0, number, "", digest)
    return replace(record or named(number, documents), split=split)


class Relay:
    """The active mapping of one relay process, over this store and what the position topic
    keeps.
    """

    def __init__(self, store: Sets, *kept: dict[str, str], **routing: Any) -> None:
        self.store = store
        self.kept = {digest_of(each): each for each in kept}
        self.changed = threading.Event()
        all_it_asks: Any = store
        self.mapping = ActiveMapping(
            all_it_asks, RoutingSettings.model_validate(routing), self.changed
        )

    def begin(self, record: PositionRecord | None = None) -> str:
        self.mapping.begin(record, self.kept.get)
        return self.topic

    def signal(self) -> str:
        self.changed.set()
        self.mapping.renew()
        return self.topic

    @property
    def topic(self) -> str:
        route = self.mapping.router.route(TableId("shop", "t"))
        return route.topics[0] if isinstance(route, Destination) else "left out"


@pytest.mark.parametrize("record", [None, RECORD], ids=["no record", "a record that names no set"])
@pytest.mark.parametrize(
    "sets", [(), (ONLY_TOPICS,), ({},)], ids=["empty", "half saved", "nothing mapped"]
)
def test_before_the_first_row_an_instance_waits_until_a_database_is_mapped(
    sets: tuple[dict[str, str], ...], record: PositionRecord | None
) -> None:
    store = Sets(*sets)
    relay = Relay(store)
    with pytest.raises(MappingMissing, match="apping set"):
        relay.begin(record)
    store.sets[9], store.pointer = to("a"), 9
    assert relay.begin(record) == "a"


def test_a_default_topic_needs_no_mapping() -> None:
    relay = Relay(Sets(), unmapped_db="default_topic", default_topic="all")
    assert relay.begin() == "all"
    assert relay.mapping.name == MappingName()


def test_a_set_is_published_under_until_the_store_that_it_came_from_has_a_newer_one() -> None:
    store = Sets(to("a"))
    relay = Relay(store)
    assert relay.begin(named(1, to("a"))) == "a"
    store.sets[2], store.pointer = to("b"), 2
    assert relay.topic == "a", "nothing changes without a look"
    assert relay.signal() == "b"
    assert relay.mapping.name == MappingName(2, digest_of(to("b")))


def test_a_signal_without_a_change_leaves_everything_as_it_is() -> None:
    relay = Relay(Sets(to("a")))
    relay.begin()
    router = relay.mapping.router
    relay.changed.set()
    assert not relay.mapping.renew()
    assert relay.mapping.router is router


LOST_STORES = {
    "emptied": Sets(),
    "half saved": Sets(ONLY_TOPICS),
    "older": Sets(to("old")),
    "another's, with the same number": Sets(to("x"), to("y")),
    "another's, newer": Sets(to("x"), to("y"), to("z"), to("w")),
}


@pytest.mark.parametrize("store", LOST_STORES.values(), ids=LOST_STORES)
def test_a_store_that_lost_the_set_changes_no_route(store: Sets) -> None:
    record = named(2, to("b"))
    with pytest.raises(MappingLost, match="mapping set 2"):
        Relay(store, to("b")).begin(record)
    running = Relay(Sets(to("a"), to("b")))
    running.begin(record)
    running.store.sets, running.store.pointer = store.sets, store.pointer
    with pytest.raises(MappingLost):
        running.signal()
    assert running.topic == "b"


@pytest.mark.parametrize(
    "sets",
    [(to("x"), to("b")), (ONLY_TOPICS, to("a"), to("b")), (to("b"),)],
    ids=["number", "later", "earlier"],
)
def test_a_store_that_has_the_documents_again_is_followed(sets: tuple[dict[str, str], ...]) -> None:
    store = Sets()
    relay = Relay(store)
    with pytest.raises(MappingLost):
        relay.begin(named(2, to("b")))
    store.sets, store.pointer = dict(enumerate(sets, 1)), len(sets)
    assert relay.begin(named(2, to("b"))) == "b"


def test_a_record_of_a_relay_that_noted_no_digest_is_compared_by_its_number() -> None:
    assert Relay(Sets(to("a"), to("b"))).begin(named(1)) == "b"
    for store in (Sets(), Sets(to("a"))):
        with pytest.raises(MappingLost):
            Relay(store).begin(named(2))


@pytest.mark.parametrize(
    "store", [Sets(to("a"), to("b")), *LOST_STORES.values()], ids=["whole", *LOST_STORES]
)
def test_a_half_published_transaction_ends_under_its_own_set(store: Sets) -> None:
    relay = Relay(store, to("own"))
    assert relay.begin(half(1, to("own"))) == "own"
    store = Sets(to("own"), to("b"))
    relay = Relay(store)
    assert relay.begin(half(1, to("own"))) == "own"
    assert relay.mapping.renew(), "what follows it is published under the newest set"
    assert relay.topic == "b"


def test_what_follows_a_resumed_transaction_waits_where_the_store_lost_its_set() -> None:
    relay = Relay(Sets(to("foreign")), to("own"))
    relay.begin(half(1, to("own")))
    with pytest.raises(MappingLost):
        relay.mapping.renew()


def test_a_half_published_transaction_ends_without_zookeeper_but_nothing_follows_it() -> None:
    store = Sets(to("own"))
    relay, store.away = Relay(store, to("own")), True
    assert relay.begin(half(1, to("own"))) == "own"
    with pytest.raises(StoreUnreachable):
        relay.mapping.renew()
    store.away = False
    assert relay.signal() == "own"
    store.away = True
    assert relay.signal() == "own", "a set that was compared is kept through an outage"


def test_a_half_published_transaction_whose_set_is_nowhere_is_not_ended_under_another() -> None:
    for record in (half(1, to("own")), half(3)):
        with pytest.raises(MappingLost, match="neither ZooKeeper nor"):
            Relay(Sets(to("foreign"))).begin(record)
    assert Relay(Sets(to("a"), to("b"))).begin(half(1)) == "a", (
        "an older relay noted the number alone"
    )
    away = Sets(to("a"))
    away.away = True
    with pytest.raises(StoreUnreachable):
        Relay(away).begin(half(1))


def test_a_transaction_that_is_half_published_without_any_set_ends_so() -> None:
    relay = Relay(Sets(to("a")), unmapped_db="default_topic", default_topic="all")
    assert relay.begin(half(0, None, named(0))) == "all"
    assert relay.signal() == "a"


def test_a_set_that_was_confirmed_comes_after_the_half_published_transaction() -> None:
    record = half(1, to("own"), named(1, to("foreign")))
    relay = Relay(Sets(to("foreign")), to("own"), to("foreign"))
    assert relay.begin(record) == "own"
    assert relay.mapping.renew()
    assert relay.topic == "foreign"


def test_an_outage_of_zookeeper_keeps_the_active_set_that_was_taken_from_it() -> None:
    store = Sets(to("a"), to("b"))
    relay = Relay(store)
    relay.begin(named(1, to("a")))
    store.away = True
    for record in (named(1, to("a")), named(2, to("b"))):
        assert relay.begin(record) == "b", "the record names it, or one that it replaced"
    with pytest.raises(StoreUnreachable):
        relay.begin(named(3, to("c")))
    with pytest.raises(StoreUnreachable):
        Relay(store).begin(named(2, to("b")))


def test_an_outage_after_a_resumed_transaction_does_not_bring_its_older_set_back() -> None:
    store = Sets(to("a"))
    relay = Relay(store, to("a"))
    relay.begin(named(1, to("a")))
    store.sets[2], store.pointer = to("b"), 2
    relay.signal()
    relay.begin(half(1, to("a")))
    store.away = True
    with pytest.raises(StoreUnreachable):
        relay.begin(named(2, to("b")))


def test_a_broken_set_stays_inactive_and_is_read_again_when_another_is_saved() -> None:
    store = Sets(to("a"), BROKEN)
    relay = Relay(store)
    with pytest.raises(MappingRefused):
        relay.begin(named(1, to("a")))
    assert not relay.mapping.has_news()
    relay.changed.set()
    assert not relay.mapping.has_news(), "a new connection alone brings nothing"
    store.sets[3], store.pointer = to("c"), 3
    relay.changed.set()
    assert relay.mapping.has_news()
    assert relay.begin(named(1, to("a"))) == "c"
    store.sets[4], store.pointer = BROKEN, 4
    assert relay.signal() == "c"
    assert "MAPPING_REFUSED" in relay.mapping.problem
    store.sets[5], store.pointer = to("e"), 5
    assert relay.signal() == "e"
    assert relay.mapping.problem == ""


def test_the_position_topic_gets_the_active_documents() -> None:
    relay = Relay(Sets(to("a")))
    relay.begin()
    assert relay.mapping.documents == {digest_of(to("a")): to("a")}


def test_a_set_is_activated_with_what_its_change_over_needs_or_not_yet() -> None:
    store = Sets(to("a"))
    relay = Relay(store, to("a"))
    relay.begin()
    store.sets |= {2: to("b"), 3: to("c")}
    store.pointer = 3

    def away(_: object) -> None:
        raise StoreUnreachable("the feeders of a topic cannot be read")

    relay.changed.set()
    assert not relay.mapping.renew(away)
    assert relay.topic == "a"
    prepared: list[list[int]] = []
    assert relay.mapping.renew(lambda sets: prepared.append([each.number for each in sets]))
    assert (relay.topic, prepared) == ("c", [[1, 2, 3]])
    assert not relay.mapping.renew(away), "nothing was saved since"


def test_the_set_of_a_record_is_known_while_another_one_is_active() -> None:
    store = Sets(to("a"), to("b"), to("c"))
    relay = Relay(store, to("a"))
    relay.begin(named(1, to("a")))
    published = relay.mapping.published_set(named(1, to("a")), relay.kept.get)
    assert published is not None
    assert [each.number for each in relay.mapping.sets_since(published)] == [1, 2, 3]
    assert relay.mapping.published_set(named(3, to("c")), relay.kept.get) is None
    assert relay.mapping.published_set(half(1, to("a")), relay.kept.get) is None
    del store.sets[2]
    assert [each.number for each in relay.mapping.sets_since(published)] == [1, 3]


@pytest.mark.parametrize(
    "sets",
    [{1: to("x"), 2: to("y"), 3: to("a")}, {2: to("y"), 3: to("a")}],
    ids=["another set of the number", "no set of the number"],
)
def test_a_restore_over_the_sets_of_another_store_moves_no_table_through_them(
    sets: dict[int, dict[str, str]],
) -> None:
    store = Sets(to("a"))
    running = Relay(store, to("a"))
    running.begin(named(1, to("a")))
    store.sets, store.pointer = sets, 3
    prepared: list[list[int]] = []
    running.changed.set()
    running.mapping.renew(lambda sets: prepared.append([each.number for each in sets]))
    assert (running.mapping.number, prepared) == (3, [[1, 3]])
    started = Relay(store, to("a"))
    assert started.begin(named(1, to("a"))) == "a"
    published = started.mapping.published_set(named(1, to("a")), started.kept.get)
    assert published is not None
    assert [each.number for each in started.mapping.sets_since(published)] == [1, 3]


def test_no_set_of_another_store_is_activated_on_the_way_to_a_restored_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = Others(a={"x": 1, "y": 1})
    foreign = {**to("a"), "com.pajk.Roma.tbs": '[{"logicTb": "x", "realTbs": "y"}]'}
    relay = held_relay(monkeypatch, foreign, to("c"), to("a"), others=others)
    relay.kept[digest_of(to("a"))] = to("a")
    assert relay.begin(named(1, to("a"))) == "a"
    assert relay.mapping.problem == ""


def test_no_first_row_goes_to_a_topic_that_a_newer_set_leaves() -> None:
    store = Sets(to("a"))
    relay = Relay(store, to("a"))
    relay.begin(named(1, to("a")))
    relay.mapping.refuse_left("a")
    store.sets |= {2: to("b"), 3: BROKEN}
    store.pointer = 3
    relay.mapping.refuse_left("z")
    with pytest.raises(BatchAborted, match="Mapping set 2"):
        relay.mapping.refuse_left("a")
    relay.begin(half(1, to("a")))
    with pytest.raises(TopicRefused, match="published in part"):
        relay.mapping.refuse_left("a")
    store.sets[4], store.pointer = to("a"), 4
    relay.mapping.refuse_left("a")  # rolled back, as the remedy says
    del store.sets[4]
    store.sets[2] = BROKEN
    relay.mapping.refuse_left("a")


class Others:
    """What ZooKeeper says of other instances: the sets that they publish under, by topic."""

    def __init__(self, **published: dict[str, int | None]) -> None:
        self.published = published
        self.topics = self

    def __call__(self) -> tuple[str, ...]:
        return tuple(self.published)

    def published_sets(self, topic: str) -> dict[str, int | None]:
        return self.published.get(topic, {})


def held_relay(monkeypatch: pytest.MonkeyPatch, *sets: dict[str, str], others: Others) -> Relay:
    """A relay whose instance x waits for the others, and looks at them without a pause."""
    monkeypatch.setattr("relay.pipeline.table_return_guard._PAUSE_SECONDS", 0.0)
    relay = Relay(Sets(*sets), *sets)
    notes: Any = SimpleNamespace(
        topics=SimpleNamespace(topics=others), published_sets=others.published_sets
    )
    all_it_asks: Any = relay.store
    relay.mapping = ActiveMapping(all_it_asks, RoutingSettings(), relay.changed, "x", notes)
    return relay


def test_tables_come_back_to_a_topic_when_the_other_instances_have_left_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = Others(a={"x": 1, "y": 1})
    relay = held_relay(monkeypatch, to("a"), to("b"), to("a"), others=others)
    assert relay.begin(named(1, to("a"))) == "b", "the set between comes first"
    assert "TABLE_RETURNS_EARLY" in relay.mapping.problem
    assert not relay.mapping.renew()
    assert relay.begin(named(2, to("b"))) == "b", "the next session waits, too"
    relay.mapping.refuse_left("b")  # no other instance may have marked its end
    others.published["b"] = {"y": 3}
    with pytest.raises(BatchAborted):
        relay.mapping.refuse_left("b")
    relay.store.away = True
    assert not relay.mapping.renew()
    relay.store.away = False
    others.published["a"]["y"] = 2
    prepared: list[list[int]] = []
    assert relay.mapping.renew(lambda sets: prepared.append([each.number for each in sets]))
    assert (relay.topic, prepared, relay.mapping.problem) == ("a", [[2, 3]], "")
    assert not relay.mapping.renew(), "nothing is left to do"


class Deleting(Others):
    """Deletes mapping set 2 when the sets of other instances are read."""

    sets: dict[int, dict[str, str]]

    def published_sets(self, topic: str) -> dict[str, int | None]:
        self.sets.pop(2, None)
        return super().published_sets(topic)


def test_a_set_that_is_deleted_while_it_is_chosen_names_the_commands_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = Deleting(a={"x": 1, "y": 1})
    relay = held_relay(monkeypatch, to("a"), to("b"), to("a"), others=others)
    others.sets = relay.store.sets
    with pytest.raises(MappingRefused, match=r"Mapping set 2, .* was deleted") as refused:
        relay.begin(named(1, to("a")))
    commands = re.findall("`(roma [a-z ]+)", refused.value.way_out)
    assert commands == ["roma mapping history", "roma restore ", "roma instance start x"]
    assert relay.begin(named(1, to("a"))) == "a", "directly to the newest set, as the remedy says"
    assert relay.mapping.number == 3


def test_a_running_instance_takes_the_sets_before_the_one_that_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = Others(a={"y": None})
    relay = held_relay(monkeypatch, to("a"), others=others)
    relay.begin(named(1, to("a")))
    relay.store.sets |= {2: to("b"), 3: to("c"), 4: to("a")}
    relay.store.pointer = 4
    prepared: list[list[int]] = []
    relay.changed.set()
    assert relay.mapping.renew(lambda sets: prepared.append([each.number for each in sets]))
    assert (relay.topic, relay.mapping.number, prepared) == ("c", 3, [[1, 2, 3]])
    relay.store.sets[5], relay.store.pointer = to("d"), 5
    assert not relay.mapping.renew(), "the way to the newest set leads over the one that waits"
    del others.published["a"]["y"]  # retired
    assert relay.signal() == "d"

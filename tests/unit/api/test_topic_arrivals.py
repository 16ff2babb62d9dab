"""Which mapping set gave a database its topic, as the admin tells clients."""

import json
from typing import Any

from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.topic_arrivals import Arrival, TopicArrivals
from relay.state import Note, SetRecord, StoredSet

DBS, TOPICS = "com.pajk.Roma.dbs", "com.pajk.Roma.topics"


def to(topic: str) -> dict[str, str]:
    return {
        DBS: json.dumps([{"logicDb": "s", "realDbs": "shop"}]),
        TOPICS: json.dumps([{"logicDb": "s", "topic": topic}]),
    }


class Sets:
    """The saved sets in memory; `apart` are numbers of sets over another store's."""

    def __init__(self, *topics: str, apart: tuple[int, ...] = ()) -> None:
        self.sets = {
            number: StoredSet(
                SetRecord(number, {TOPICS: number}, Note(saved_ms=1000), is_apart=number in apart),
                to(topic),
            )
            for number, topic in enumerate(topics, 1)
        }

    def set_numbers(self) -> tuple[int, ...]:
        return tuple(sorted(self.sets, reverse=True))

    def record(self, number: int) -> SetRecord:
        return self.sets[number].record

    def load(self, number: int) -> StoredSet:
        return self.sets[number]


def arrival(sets: Sets, number: int, topic: str = "a") -> Arrival:
    all_it_asks: Any = sets
    return TopicArrivals(MappingArchive(all_it_asks), lambda: 3.0).since(number, "s", topic)


def test_the_first_set_of_the_present_series_gave_the_topic() -> None:
    assert arrival(Sets("a", "b", "a", "a"), 4) == Arrival(3, 2.0)
    assert arrival(Sets("a", "a"), 2) == Arrival(0, None)


def test_sets_of_another_store_before_a_restored_one_do_not_count() -> None:
    assert arrival(Sets("x", "x", "a", apart=(3,)), 3) == Arrival(0, None)
    assert arrival(Sets("x", "x", "a", "a", apart=(3,)), 4) == Arrival(0, None)
    assert arrival(Sets("x", "a", "b", "a", apart=(2,)), 4) == Arrival(4, 2.0)

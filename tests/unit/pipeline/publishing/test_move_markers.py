"""Which markers an instance writes when it changes over, and what does not keep it back."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from relay.errors import (
    BatchAborted,
    BrokerUnreachable,
    PartitionsDiffer,
    RelayError,
    StoreUnreachable,
    TopicRefused,
)
from relay.pipeline.publishing.move_markers import MoveMarkers
from relay.settings import InstanceSettings
from tests.model.moves.moved_table import compiled

A, B, C = (compiled(number, topic) for number, topic in enumerate("abc", 1))


class Topics:
    """The topics of Kafka, by their partitions. `refused` keeps the instance from new ones."""

    def __init__(self, *fed: str, refused: RelayError | None = None) -> None:
        self.counts = dict.fromkeys(fed, 2)
        self.refused = refused

    def cluster_counts(self) -> dict[str, int]:
        return {"a": 2, "a.ddl": 1} | self.counts

    def partitions(self, topic: str) -> int:
        if self.refused is not None:
            raise self.refused
        return self.counts.setdefault(topic, 1)


class Feeders:
    """Who feeds which topic. `away`: ZooKeeper does not answer."""

    def __init__(self, **names: tuple[str, ...]) -> None:
        self.feeders = names
        self.away = False

    def topics(self) -> tuple[str, ...]:
        return tuple(self.feeders)

    def names(self, topic: str) -> tuple[str, ...]:
        if self.away:
            raise StoreUnreachable("away")
        return self.feeders.get(topic, ())


def markers(
    topics: Topics, feeders: Feeders, *, on: bool = True, rules: Sequence[Any] = ()
) -> MoveMarkers:
    settings = {
        "name": "x",
        "source": {"host": "nowhere", "user": "u"},
        "topic": {"move_markers": on, "rules": rules},
    }
    their: Any = topics
    who: Any = feeders
    return MoveMarkers(InstanceSettings.model_validate(settings), their, who)


def written(made: MoveMarkers) -> list[tuple[str, int, list[str], list[str]]]:
    """Topic, partition, next topics and feeders of each marker."""
    found = []
    for each in made.messages():
        ((name, text),) = each.headers
        fields = json.loads(text)
        assert (name, each.value, fields["instance"]) == ("moved", None, "x")
        found.append((each.topic, each.partition, fields["to"], fields["feeders"]))
    return found


def test_each_partition_of_the_rows_and_of_their_ddl_gets_a_marker_once() -> None:
    topics = Topics("a")
    made = markers(topics, Feeders(a=("x", "y")))
    made.prepare([A, B])
    one = [("a", 0), ("a", 1), ("a.ddl", 0)]
    assert written(made) == [(*at, ["b"], ["x", "y"]) for at in one]
    assert topics.counts == {"a": 2, "b": 1}, "the next topic is fed from now on"
    assert written(made) == []


def test_the_next_topics_that_a_client_can_read_come_first() -> None:
    rule = {"topics": "b", "format": "maxwell-json"}
    made = markers(Topics("a"), Feeders(a=("x",)), rules=[rule])
    made.prepare([A, compiled(2, "b,c,d")])
    assert {tuple(to) for _, _, to, _ in written(made)} == {("c", "d", "b")}


@pytest.mark.parametrize(
    "refused",
    [
        TopicRefused("has another cleanup policy"),
        PartitionsDiffer("other rules"),
        BrokerUnreachable("cannot be made"),
        StoreUnreachable("cannot join"),
        BatchAborted("a newer set leaves it"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_keeps_an_instance_from_the_next_topic_does_not_keep_its_marker_back(
    refused: RelayError,
) -> None:
    made = markers(Topics("a", refused=refused), Feeders(a=("x",)))
    made.prepare([A, B])
    assert len(written(made)) == 3


@pytest.mark.parametrize(
    ("refused", "others", "feeders"),
    [
        (None, (), ["x"]),
        (None, ("y",), ["x", "y"]),
        (TopicRefused("has another cleanup policy"), ("y",), None),
    ],
    ids=["made just now", "others feed it", "refused"],
)
def test_a_set_between_has_markers_of_its_own_in_the_topic_that_was_joined(
    refused: RelayError | None, others: tuple[str, ...], feeders: list[str] | None
) -> None:
    made = markers(Topics("a", refused=refused), Feeders(a=("x",), b=others))
    made.prepare([A, B, C])
    found = written(made)
    assert [to for topic, _, to, _ in found if topic.startswith("a")] == [["b"]] * 3
    expected = [] if feeders is None else [("b", 0, ["c"], feeders)]
    assert [each for each in found if each[0] == "b"] == expected


@pytest.mark.parametrize(
    ("feeders", "on"),
    [(Feeders(), True), (Feeders(a=("y",)), True), (Feeders(a=("x",)), False)],
    ids=["lost agreement", "agreement without the instance", "turned off"],
)
def test_no_marker_names_feeders_that_may_be_too_few(feeders: Feeders, on: bool) -> None:
    made = markers(Topics("a"), feeders, on=on)
    made.prepare([A, B])
    assert written(made) == []


def test_an_outage_of_zookeeper_holds_the_change_over_back_before_anything_is_written() -> None:
    feeders = Feeders(a=("x",))
    made = markers(Topics("a"), feeders)
    feeders.away = True
    with pytest.raises(StoreUnreachable):
        made.prepare([A, B])
    made.prepare([A, A])  # no table moves: nobody is asked
    assert written(made) == []


def test_an_instance_marks_that_a_table_is_back_in_a_topic_that_it_fed() -> None:
    for feeders in (Feeders(a=("x", "y"), b=("x",)), Feeders()):  # ZooKeeper may have been wiped
        made = markers(Topics("a", "b"), feeders)
        made.prepare([B, A])
        back = [each for each in written(made) if each[2] == ["a"]]
        assert [(topic, at) for topic, at, *_ in back if topic.startswith("a")] == [
            ("a", 0),
            ("a", 1),
            ("a.ddl", 0),
        ]
    made = markers(Topics("b"), Feeders(a=("y",), b=("x",)))
    made.prepare([B, A])
    assert {topic for topic, *_ in written(made)} == {"b"}, "it never fed the topic"


def test_the_feeders_of_a_topic_that_is_joined_and_left_at_once_are_read_after_the_joining() -> (
    None
):
    topics, feeders = Topics("a"), Feeders(a=("x",))
    made = markers(topics, feeders)
    made.prepare([A, B, C])
    feeders.feeders["b"] = ("y",)  # joins meanwhile
    assert [who for topic, _, _, who in written(made) if topic == "b"] == [["x", "y"]]

"""Where a group reads a table on, by the notes of its commits."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, TopicPartition

from roma_client.beginning import unmoved_topic
from roma_client.errors import KafkaRefused, NotPermitted, TableMoved
from roma_client.kafka.commit_notes import CommitNote
from roma_client.kafka.former_topics import Reached, chosen_topic, next_topic, topic_to_read
from roma_client.kafka.moves import NoMoves
from roma_client.names import Table
from roma_client.records.moved import Departure, Followed

TABLE = "shop.t"
HERE = CommitNote(TABLE)
BY_HAND = CommitNote(TABLE, by_hand=True)


def left(number: int, to: str, after: int = 0) -> CommitNote:
    return CommitNote(TABLE, after, left=Departure(number, to))


def came(after: int) -> CommitNote:
    return CommitNote(TABLE, after)


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        ({}, ("m", 0)),
        ({"a": [HERE, HERE]}, ("a", 0)),
        ({"m": [HERE], "a": [HERE]}, ("m", 0)),
        ({"a": [left(1, "b"), HERE]}, ("a", 0)),
        ({"a": [left(1, "b")]}, ("a", 0)),  # the other partition has no commit
        ({"a": [left(1, "b"), left(1, "b")]}, ("b", 1)),
        ({"a": [left(1, "b")] * 2, "b": [left(2, "c", 1)] * 2}, ("c", 2)),
        ({"a": [left(1, "b")] * 2, "b": [left(2, "a", 1)] * 2}, ("a", 2)),
        ({"a": [came(2), left(1, "b")], "b": [left(2, "a", 1)] * 2}, ("a", 2)),
        ({"a": [came(2), came(2)]}, ("a", 2)),  # Kafka deleted the commits in b
        ({"b": [came(1), came(1)]}, ("b", 1)),
        ({"a": [left(1, "b")] * 2, "a.ddl": [HERE]}, ("a", 0)),
        ({"a": [left(1, "b")] * 2, "a.ddl": [left(1, "b")]}, ("b", 1)),
        ({"a": [left(1, "")] * 2}, ("m", 1)),
        ({"a": [BY_HAND, BY_HAND]}, ("m", 0)),
        ({"a": [BY_HAND, HERE]}, ("a", 0)),
        ({"a": [left(1, "b")] * 2, "b": [BY_HAND] * 2}, ("m", 1)),
    ],
)
def test_the_newest_departure_or_return_decides(
    notes: dict[str, list[CommitNote]], expected: tuple[str, int]
) -> None:
    counts = {name: 1 if name.endswith(".ddl") else 2 for name in (*notes, "m", "b", "c")}
    found = {name: dict(enumerate(each)) for name, each in notes.items()}
    topic, departure = chosen_topic(found, counts, "m")
    assert (topic, 0 if departure is None else departure.set) == expected


@pytest.mark.parametrize(
    ("notes", "after", "expected"),
    [
        ([left(1, "b"), HERE], 0, None),
        ([left(1, "b")], 0, None),
        ([left(1, "b"), left(1, "b")], 0, Departure(1, "b")),
        ([left(1, "b"), left(1, "b")], 2, None),  # of an earlier stay
        ([left(3, "c", 2), left(1, "b")], 2, None),
        ([left(3, "c", 2), left(3, "c", 2)], 2, Departure(3, "c")),
        ([came(2), left(1, "b")], 0, Departure(2, "a")),  # others are back already
    ],
)
def test_a_client_goes_on_with_the_whole_group(
    notes: list[CommitNote], after: int, expected: Departure | None
) -> None:
    followed = Followed("shop", "t", "a", after)
    assert next_topic(dict(enumerate(notes)), 2, followed) == expected


@pytest.mark.parametrize(
    "note", [HERE, BY_HAND, CommitNote(TABLE, since=0), left(3, "c", 2), CommitNote(TABLE, 1, 17)]
)
def test_a_note_is_read_as_it_was_written(note: CommitNote) -> None:
    assert CommitNote.read(note.text()) == note


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"roma": 2}', '{"roma": 1}'])
def test_metadata_of_other_programs_are_no_note(text: str | None) -> None:
    assert CommitNote.read(text) is None


class Committed:
    """A consumer whose group has a commit of partition 0 of `a`, and an error of partition 1."""

    def __init__(self, code: int) -> None:
        self.error = KafkaError(code)

    def list_topics(self, **_: Any) -> Any:
        return SimpleNamespace(
            topics={"a": SimpleNamespace(error=None, partitions={0: None, 1: None})}
        )

    def committed(self, asked: list[TopicPartition], **_: Any) -> list[Any]:
        note = NoMoves(TABLE, by_hand=False).note(("a", 0), 5)
        return [
            SimpleNamespace(topic=each.topic, partition=each.partition, error=error, metadata=note)
            for each, error in zip(asked, (None, self.error), strict=True)
        ]

    def close(self) -> None: ...


@pytest.mark.parametrize("code", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.UNKNOWN])
def test_a_partition_whose_commit_is_not_answered_is_an_error(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its note may name another topic than those of the other partitions."""
    monkeypatch.setattr("roma_client.kafka.former_topics.Consumer", lambda _: Committed(code))
    with pytest.raises((KafkaRefused, NotPermitted)):
        topic_to_read({}, "group", TABLE, "m")


def test_a_partition_that_was_deleted_has_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    deleted = Committed(KafkaError.UNKNOWN_TOPIC_OR_PART)
    monkeypatch.setattr("roma_client.kafka.former_topics.Consumer", lambda _: deleted)
    assert topic_to_read({}, "group", TABLE, "m").topic == "a"


def test_a_group_that_follows_no_moves_stops_where_its_table_has_left_its_topic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table("shop", "t", ("m", "copy"), (), frozenset())
    for topic in ("m", "copy", "former"):
        reached = Mock(return_value=Reached(topic, None, None, is_new=False))
        monkeypatch.setattr("roma_client.beginning.topic_to_read", reached)
        if topic in table.topics:
            assert unmoved_topic({}, "group", table) == topic
            continue
        with pytest.raises(TableMoved, match='topic="former"'):
            unmoved_topic({}, "group", table)

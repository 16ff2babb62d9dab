"""Finds the topic in which a group continues to read a table, by the group's commits.

It can differ from the topic in the mapping.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from roma_client.kafka.asking import answered
from roma_client.kafka.commit_notes import CommitNote
from roma_client.kafka.failures import client_error, error_of
from roma_client.records.moved import Departure, Followed
from roma_client.records.record import STATEMENT_SUFFIX

_ASK_SECONDS: Final = 15.0
Notes: TypeAlias = Mapping[str, Mapping[int, CommitNote]]
"""Topic → partition → the note in the group's commit."""


class Reached(NamedTuple):
    """The topic in which a group reads a table.

    departure  how the table left the former topic; None if the group has followed no move
    since      as in CommitNote
    is_new     whether the group has no commits of the table
    """

    topic: str
    departure: Departure | None
    since: int | None
    is_new: bool


def topic_to_read(kafka: Mapping[str, Any], group: str, table: str, mapped: str) -> Reached:
    """Return the topic from which a group reads a table.

    `mapped` is the topic in the mapping, which a group without commits of the table reads. Raises
    BrokerUnreachable, NotPermitted, KafkaRefused.
    """
    # Admin clients of librdkafka 2.16 crash when they list the offsets of a group that has none.
    consumer = Consumer({**kafka, "group.id": group})
    try:
        topics = consumer.list_topics(timeout=_ASK_SECONDS).topics
        counts = {name: len(each.partitions) for name, each in topics.items() if each.error is None}
        asked = [TopicPartition(name, each) for name in counts for each in range(counts[name])]
        found: dict[str, dict[int, CommitNote]] = {}
        # A broker may refuse while the group's coordinator is made.
        for each in answered(lambda: _committed(consumer, asked), _ASK_SECONDS):
            note = CommitNote.read(each.metadata)
            if note is not None and note.table == table:
                found.setdefault(each.topic, {})[each.partition] = note
    except KafkaException as exc:
        where = f"asking for the offsets of group {group}"
        raise client_error(error_of(exc), where) from exc
    finally:
        consumer.close()
    topic, departure = chosen_topic(found, counts, mapped)
    notes = found.get(topic, {}).values()
    since = min((each.since for each in notes if each.since is not None), default=None)
    return Reached(topic, departure, since, is_new=not found)


def _committed(consumer: Consumer, asked: list[TopicPartition]) -> list[TopicPartition]:
    """Return the commits of a group. Raises KafkaException for a partition without an answer.

    A partition that was deleted meanwhile has none.
    """
    found = consumer.committed(asked, timeout=_ASK_SECONDS)
    for each in found:
        if each.error is not None and each.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(each.error)
    return [each for each in found if each.error is None]


def chosen_topic(
    notes: Notes, partitions: Mapping[str, int], mapped: str
) -> tuple[str, Departure | None]:
    """Return the topic to which a group has followed the table, and the move that led there (None:
    the group followed no move).

    notes       what the group's commits record about the table
    partitions  topic → number of partitions
    mapped      topic in the mapping

    A topic is finished if the commits of all its partitions name a move away from it. The result
    is the target of the newest such move. There is one exception: the group may already have
    followed a later move to a topic that is not finished (`after` in its commits names the set of
    that move). The result is then this topic. If the commits say that the service itself named the
    resulting topic (`by_hand`), the result is `mapped` instead.
    """
    rows = {name: each for name, each in notes.items() if not name.endswith(STATEMENT_SUFFIX)}
    whole: list[Departure] = []
    reached: list[tuple[int, bool, str]] = []
    for name, found in rows.items():
        departure = _left_with_statements(notes, partitions, name)
        if departure is None:
            reached.append((max(each.after for each in found.values()), name == mapped, name))
        else:
            whole.append(departure)
    newest = max(whole, key=lambda each: each.set, default=Departure(0, mapped))
    after, _, topic = max(reached, default=(0, True, newest.to))
    if newest.set >= after and whole:
        after, topic = newest.set, newest.to or mapped
    if _is_by_hand(notes.get(topic, {}), partitions.get(topic, 0)):
        topic = mapped
    return topic, Departure(after, topic) if after else None


def _left_with_statements(
    notes: Notes, partitions: Mapping[str, int], topic: str
) -> Departure | None:
    """Return the departure from a topic, None while its DDL is not read to the end."""
    departure = common_departure(notes[topic], partitions[topic])
    statements = topic + STATEMENT_SUFFIX
    if statements in notes and common_departure(notes[statements], partitions[statements]) is None:
        return None
    return departure


def _is_by_hand(notes: Mapping[int, CommitNote], partitions: int) -> bool:
    return 0 < partitions <= len(notes) and all(each.by_hand for each in notes.values())


def common_departure(notes: Mapping[int, CommitNote], partitions: int) -> Departure | None:
    """Return the move of the table away from a topic, if all partitions of the topic are read to
    their ends; otherwise None. `notes` has what the commit of each partition records.
    """
    left = [note.left for note in notes.values() if note.left is not None]
    if not left or len(left) < partitions:
        return None
    return min(left, key=lambda each: each.set)


def next_topic(
    notes: Mapping[int, CommitNote], partitions: int, followed: Followed
) -> Departure | None:
    """Return the move that a client follows after it has read its own partitions of a topic to
    their ends.

    If other clients of the group have already followed the table away and back, the result is the
    move back to the same topic. None: another client has not read its partitions to their ends.
    """
    returned = max((each.after for each in notes.values()), default=0)
    if returned > followed.after:
        return Departure(returned, followed.topic)
    newer = {
        number: each
        for number, each in notes.items()
        if each.left is not None and each.left.set > followed.after
    }
    return common_departure(newer, partitions)

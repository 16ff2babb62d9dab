"""What the feed of whole transactions knows of its partitions, and notes with its commits."""

import json
from typing import Any

import pytest
from confluent_kafka import KafkaError, TopicPartition

from roma_client.kafka.options import FeedOptions
from roma_client.kafka.transaction_feed import Ends, TransactionFeed
from roma_client.metrics import NoMetrics
from roma_client.records.assembler import Assembler
from roma_client.records.decoding import Reading
from roma_client.records.pending import Moment, ReadyTransaction
from roma_client.records.record import Record
from roma_client.records.selection import Selection
from tests.support.clients.fake_consumer import FakeConsumer, FakeMessage
from tests.support.clients.made_records import row_record

END_OF_PARTITION: int = KafkaError._PARTITION_EOF  # noqa: SLF001  # local errors begin like that
REPORTS = ("tx", 0)
ONE, OTHER = ("shop", 0), ("shop", 1)


def opened(done: str = "") -> tuple[TransactionFeed, Assembler]:
    """A feed that has two partitions of rows and the reports, with a note of a former commit."""
    assembler = Assembler("i", frozenset({"shop.a"}), REPORTS)
    selection = Selection("shop.a".__eq__)
    options = FeedOptions("group", ("shop", "tx"), selection, Reading(), {}, exclusive=True)
    feed = TransactionFeed(options, NoMetrics(), assembler, REPORTS)
    rows = [TopicPartition(*each, 3) for each in (ONE, OTHER)]
    feed.assigned([*rows, TopicPartition(*REPORTS, 5, done)])
    return feed, assembler


def test_rows_are_missing_only_when_all_partitions_are_read_that_are_not_ahead(
    consumer: FakeConsumer,
) -> None:
    feed, _ = opened()
    ends = Ends(feed.session, 5, {ONE: 7, OTHER: 9})
    end = FakeMessage(Record(*ONE, 7, None, None, ()), KafkaError(END_OF_PARTITION))
    assert not feed.has_read(ends, {OTHER})
    consumer.gives(end)
    feed.fetch(10, 0)
    assert not feed.has_read(ends, set())
    assert feed.has_read(ends, {OTHER}), "a partition that is held back is never read to its end"


def test_a_commit_notes_what_is_done_and_the_next_client_begins_there(
    consumer: FakeConsumer, monkeypatch: Any
) -> None:
    notes: list[str | None] = []
    commit = consumer.commit

    def noted(offsets: list[TopicPartition], *, asynchronous: bool = True) -> Any:
        notes.extend(each.metadata for each in offsets if each.topic == "tx")
        return commit(offsets, asynchronous=asynchronous)

    monkeypatch.setattr(consumer, "commit", noted)
    feed, assembler = opened("done 41")
    assert feed.acknowledge(ReadyTransaction(None, (), Moment(9, 44)))
    assert feed.acknowledge(ReadyTransaction(None, (), Moment(9, 43)))
    feed.commit(wait=True)
    assert notes == ["done 41", "done 44 9"]
    assert assembler._done.before == 41  # noqa: SLF001  # what the former client had acknowledged


ID = "i:0-1-7:199"


def reported(status: str, offset: int) -> Record:
    """A BEGIN or END of a transaction with one row of shop.a."""
    told = {
        "status": status,
        "id": ID,
        "source": "",
        "gtid": "",
        "server_id": 1,
        "file": "b",
        "position": 4,
        "end_file": "b",
        "end_position": 9,
        "execute_time": 2000,
        "data_collections": [{"data_collection": "shop.a", "event_count": 1}],
    }
    return Record("tx", 0, offset, None, json.dumps(told).encode(), ())


def test_rows_of_no_transaction_that_are_older_than_what_their_key_had_are_left_out(
    consumer: FakeConsumer,
) -> None:
    """Such as a dead letter that is sent again, and the tombstone of a delete."""
    feed, assembler = opened()
    new = row_record([{"id": "1"}], table="a", order=(2000, 200), offset=3, transaction=ID)
    letter = row_record([{"id": "1"}], table="a", order=(1000, 100), offset=4)
    deleted = row_record([{"id": "2"}], kind="DELETE", table="a", order=(1000, 101), offset=5)
    tombstone = deleted._replace(value=None, offset=6)
    consumer.gives(reported("BEGIN", 5), reported("END", 6), new, letter, deleted, tombstone)
    feed.fetch(10, 0)
    found = [c for each in assembler.ready if each.transaction for c in each.transaction.changes]
    assert [each.place.offset for each in found] == [3, 5]


@pytest.mark.parametrize(("known", "cut"), [((), {("other", 0), ONE}), (REPORTS, set())])
def test_only_a_new_group_leaves_out_what_began_before_its_partitions(
    consumer: FakeConsumer, known: tuple[str, int] | tuple[()], cut: set[tuple[str, int]]
) -> None:
    """A known group that begins a further topic after a move has read what was before."""
    feed, assembler = opened()
    places = [TopicPartition("other", 0, 7), TopicPartition(*ONE, 3), TopicPartition(*REPORTS, 0)]
    all_places = {(each.topic, each.partition) for each in places}
    feed._membership.unread = frozenset(all_places - {known})  # noqa: SLF001
    begun: list[set[tuple[str, int]]] = []
    assembler.begin = lambda cut, *_: begun.append(set(cut))  # type: ignore[method-assign]
    feed.assigned(places)
    assert begun == [cut]


def test_a_note_of_a_former_release_has_no_time(consumer: FakeConsumer) -> None:
    feed, _ = opened("done 41")
    assert feed.note(REPORTS, 5) == "done 41"
    feed, _ = opened("done 41 7")
    assert feed.note(REPORTS, 5) == "done 41 7"
    feed, _ = opened("something else")
    assert feed.note(REPORTS, 5) == "done -1"


@pytest.mark.parametrize("returns", [{ONE, OTHER}, {ONE}])
def test_a_partition_that_was_held_back_is_read_when_it_is_assigned_again(
    consumer: FakeConsumer, monkeypatch: pytest.MonkeyPatch, returns: set[tuple[str, int]]
) -> None:
    """Kafka's client leaves it paused, also after another assignment of the group."""
    paused: set[tuple[str, int]] = set()

    def keys(partitions: list[TopicPartition]) -> set[tuple[str, int]]:
        return {(each.topic, each.partition) for each in partitions}

    monkeypatch.setattr(consumer, "pause", lambda some: paused.update(keys(some)), raising=False)
    monkeypatch.setattr(
        consumer, "resume", lambda some: paused.difference_update(keys(some)), raising=False
    )
    feed, _ = opened()
    feed.hold_back({ONE, OTHER})
    feed.revoked([ONE, OTHER, REPORTS], lost=True)
    feed.hold_back(set())
    assert paused == {ONE, OTHER}, "Kafka's client refuses to resume what is not assigned"
    for each in (returns, {ONE, OTHER}):
        feed.assigned([TopicPartition(*at, 3) for at in sorted(each | {REPORTS})])
        assert not paused & each
        feed.revoked([*each, REPORTS], lost=True)
    assert not paused

"""Batches of Canal's verbs whose acknowledgement the broker does not confirm at once."""

from unittest.mock import MagicMock, Mock

import pytest
from confluent_kafka import KafkaError, TopicPartition

from roma_client import canal
from roma_client.canal import EMPTY_ID, CanalConnector, Message
from roma_client.errors import (
    DeleteWithoutColumns,
    NotActive,
    RowsExpired,
    TableMoved,
    TopicMissing,
)
from roma_client.kafka.feed import Feed
from roma_client.kafka.options import FeedOptions
from roma_client.metrics import NoMetrics
from roma_client.names import Answer, Directory, Table
from roma_client.names.many_tables import TableTopics
from roma_client.names.watcher import NameWatcher
from roma_client.records.decoding import Reading
from roma_client.records.record import Record
from roma_client.records.selection import Selection
from tests.support.clients.fake_consumer import (
    NO_OFFSET,
    SESSION,
    TIMED_OUT,
    WAIT_COORD,
    FakeClock,
    FakeConsumer,
    FakeMessage,
    opened_feed,
)
from tests.support.clients.made_records import row_record

MOMENTS = [TIMED_OUT, WAIT_COORD, KafkaError.REBALANCE_IN_PROGRESS]


def row(offset: int, partition: int = 0) -> Record:
    made = row_record([{"id": str(offset)}], order=(1000, offset), offset=offset)
    return made._replace(partition=partition)


def connector(feed: Feed) -> CanalConnector:
    made = CanalConnector("group")
    made._feed, made._watcher = feed, Mock(spec=NameWatcher)  # noqa: SLF001  # as subscribed
    return made


def offsets(message: Message) -> list[int]:
    return [each.place.offset for each in message.changes]


@pytest.mark.parametrize(
    ("filter_", "topics"),
    [
        ("shop\\..*", ("a", "a.ddl", "b")),
        ("shop\\.two", ("b",)),
        ("SHOP\\.ONE,crm\\..*", ("a", "a.ddl", "c")),
    ],
)
def test_each_subscription_reads_the_topics_of_its_filter(
    monkeypatch: pytest.MonkeyPatch, filter_: str, topics: tuple[str, ...]
) -> None:
    read: list[tuple[str, ...]] = []
    feed = MagicMock(spec=Feed)

    def opened(options: FeedOptions, _metrics: object) -> Feed:
        read.append(options.topics)
        return feed

    monkeypatch.setattr(canal, "Feed", opened)
    tables = (
        Table("shop", "one", ("a",), ("a.ddl",), frozenset()),
        Table("shop", "two", ("b",), (), frozenset()),
        Table("crm", "lead", ("c",), (), frozenset()),
    )
    client = CanalConnector("group")
    client._directory = Mock(  # noqa: SLF001  # as connected
        spec=Directory, all_tables=lambda: Answer(1, "kafka:9092", "", tables)
    )
    for _ in range(2):
        client.subscribe(filter_)
        client.subscribe("crm\\..*")
    client.disconnect()
    assert read == [topics, ("c",)] * 2


def test_a_topic_that_was_missing_is_read_from_its_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed = MagicMock()
    present = {"a"}
    monkeypatch.setattr(canal, "Feed", feed)
    monkeypatch.setattr(canal, "present_topics", lambda _, topics: frozenset(topics & present))
    tables = tuple(Table("shop", each, (each,), (), frozenset()) for each in "ab")
    client = CanalConnector("group", missing="skip", start="latest")
    client._directory = Mock(  # noqa: SLF001  # as connected
        spec=Directory, all_tables=lambda: Answer(1, "kafka:9092", "", tables)
    )
    with pytest.raises(TopicMissing):
        client.subscribe("shop\\.b")
    present.add("b")
    client.subscribe("shop\\..*")
    client.disconnect()
    ((options, _),) = [each.args for each in feed.call_args_list]
    assert (options.topics, options.appeared) == (("a", "b"), {"b"})


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_batch_whose_commit_fails_for_a_moment_reaches_the_caller(
    consumer: FakeConsumer, moment: int
) -> None:
    client = connector(opened_feed())
    consumer.gives(row(0), row(1))
    consumer.gives(row(2))
    consumer.refusal = moment
    assert offsets(client.get(2)) == [0, 1]
    last = client.get_without_ack(1)
    assert not client.ack(last.id)
    consumer.refusal = None
    consumer.gives(row(3))
    last = client.get_without_ack(1)
    assert client.ack(last.id)
    assert consumer.committed["shop", 0] == 4


def test_a_client_that_lost_its_place_cannot_acknowledge(consumer: FakeConsumer) -> None:
    client = connector(opened_feed(exclusive=True))
    consumer.gives(row(0))
    late = client.get_without_ack(1)
    consumer.refusal = KafkaError.ILLEGAL_GENERATION
    with pytest.raises(NotActive, match="is too late"):
        client.ack(late.id)


def test_a_packed_record_counts_once_for_the_size_of_a_batch(consumer: FakeConsumer) -> None:
    packed = row_record([{"id": "1"}, {"id": "2"}, {"id": "3"}], orders="0,1,2")
    client = connector(opened_feed())
    client.batch_bytes = len(packed.value or b"") + 1
    consumer.gives(packed, row(7))
    assert offsets(client.get(10)) == [0, 0, 0, 7]


def test_an_error_while_a_batch_is_gathered_loses_no_change(consumer: FakeConsumer) -> None:
    client = connector(opened_feed())
    expired = KafkaError(NO_OFFSET)
    consumer.gives(row(0), row(1))
    consumer.gives(FakeMessage(row(0, 1), expired))
    with pytest.raises(RowsExpired):
        client.get(3, 1)
    consumer.gives(row(2))
    assert offsets(client.get(3, 1)) == [0, 1, 2]


def test_a_batch_has_no_change_of_a_partition_that_was_lost_while_it_was_gathered(
    consumer: FakeConsumer,
) -> None:
    feed = opened_feed()
    client = connector(feed)

    def lose() -> list[FakeMessage]:
        feed.revoked([("shop", 1)], lost=True)
        return [FakeMessage(row(1))]

    consumer.gives(row(0), row(7, 1))
    consumer.answers.append(lose)
    assert offsets(client.get(3, 1)) == [0, 1]


def test_a_batch_waits_while_the_broker_is_away(consumer: FakeConsumer, clock: FakeClock) -> None:
    client = connector(opened_feed())
    consumer.gives(row(0), row(1))
    assert offsets(client.get(1)) == [0]
    clock.now += SESSION
    consumer.refusal = TIMED_OUT
    assert client.get(1) == Message(EMPTY_ID, [])
    clock.now += SESSION
    consumer.refusal = None
    assert offsets(client.get(1)) == [1]


def table(name: str, *topics: str) -> Table:
    database, own = name.split(".")
    return Table(database, own, topics, (), frozenset())


def feed_of(consumer: FakeConsumer, *tables: Table) -> Feed:
    """A feed of all tables that reads the topics a and b."""
    places = TableTopics(tables)
    selection = Selection(lambda _: True, places.topics, reads=places.reads)
    feed = Feed(FeedOptions("g", ("a", "b"), selection, Reading("text"), {}), NoMetrics())
    feed.assigned([TopicPartition(topic, 0, 0) for topic in "ab"])
    return feed


def rows_in(topic: str, name: str, *orders: int) -> list[Record]:
    made = [row_record([{"id": "1"}], table=name, order=(1, each), offset=each) for each in orders]
    return [each._replace(topic=topic) for each in made]


def test_a_row_of_a_table_that_moved_into_a_topic_that_is_read_is_not_acknowledged_unread(
    consumer: FakeConsumer,
) -> None:
    feed = feed_of(consumer, table("shop.x", "a"), table("shop.y", "b"))
    consumer.gives(*rows_in("a", "x", 0), *rows_in("b", "y", 0), *rows_in("b", "x", 1))
    assert len(feed.fetch(10, 0)) == 2
    for _ in range(2):
        with pytest.raises(
            TableMoved, match=r"Rows of shop.x arrive in topic b, and .* from topic a"
        ):
            feed.fetch(10, 0)
    feed.commit(wait=True)
    assert consumer.committed["b", 0] <= 1


def test_a_new_table_is_read_from_one_topic_of_its_database(consumer: FakeConsumer) -> None:
    feed = feed_of(consumer, table("shop.x", "b", "a"), table("crm.x", "a"))
    consumer.gives(*rows_in("a", "z", 0, 1), *rows_in("b", "z", 0, 1))
    assert [each.change.place.topic for each in feed.fetch(10, 0)] == ["b", "b"]


def test_a_new_table_whose_topics_are_not_those_of_another_one_is_read_from_the_first(
    consumer: FakeConsumer,
) -> None:
    feed = feed_of(consumer, table("crm.x", "a"), table("crm.y", "b"))
    consumer.gives(*rows_in("a", "z", 0, 1), *rows_in("b", "z", 0))
    assert len(feed.fetch(10, 0)) == 2
    with pytest.raises(TableMoved, match=r"Rows of shop\.z"):
        feed.fetch(10, 0)


def test_a_delete_of_which_only_the_key_is_known_is_refused_after_the_changes_before_it(
    consumer: FakeConsumer,
) -> None:
    deleted = row_record([{"id": "9"}], kind="DELETE", order=(1000, 9), offset=1)
    client = connector(opened_feed())
    client.needs_columns = True
    consumer.gives(row(0), deleted._replace(value=None), row(2))
    assert offsets(client.get(10)) == [0]
    for _ in range(2):
        with pytest.raises(DeleteWithoutColumns, match=r"Record 1 of shop, .* shop\.orders"):
            client.get(10)
    assert consumer.committed["shop", 0] == 1
    client.needs_columns = False
    assert offsets(client.get(10)) == [1, 2]


def test_a_tombstone_after_its_delete_is_not_refused(consumer: FakeConsumer) -> None:
    deleted = row_record([{"id": "9"}], kind="DELETE", order=(1000, 9), offset=1)
    client = connector(opened_feed())
    client.needs_columns = True
    consumer.gives(row(0), deleted, deleted._replace(value=None, offset=2), row(3))
    assert offsets(client.get(10)) == [0, 1, 3]

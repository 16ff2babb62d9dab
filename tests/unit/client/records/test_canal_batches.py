"""Canal's verbs with a size of zero, without a limit of time, and while a table moves away."""

from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roma_client.canal import EMPTY_ID, CanalConnector, Message
from roma_client.errors import TableMoved, UsageError
from roma_client.names.watcher import NameWatcher
from roma_client.records.canal_batches import USUAL_SIZE, Collecting
from roma_client.records.selection import canal_filter
from tests.support.clients.fake_consumer import FakeConsumer, FakeMessage, opened_feed
from tests.support.clients.made_records import row_record

MOVED = TableMoved("The mapping sends shop.orders to b.")


@pytest.fixture
def client(consumer: FakeConsumer) -> Iterator[CanalConnector]:
    made = CanalConnector("group")
    made._feed = opened_feed()  # noqa: SLF001  # as subscribed
    made._watcher = Mock(spec=NameWatcher)  # noqa: SLF001
    yield made
    made.disconnect()


def moves(client: CanalConnector) -> None:
    client._watcher.check.side_effect = MOVED  # type: ignore[union-attr]  # noqa: SLF001


def rows(*offsets: int) -> list[FakeMessage]:
    made = [row_record([{"id": str(each)}], order=(1000, each), offset=each) for each in offsets]
    return [FakeMessage(each) for each in made]


def offsets(message: Message) -> list[int]:
    return [each.place.offset for each in message.changes]


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_without_a_size_has_canals_usual_size(
    consumer: FakeConsumer, client: CanalConnector, size: int
) -> None:
    consumer.gives(*rows(0, 1))
    assert offsets(client.get(size)) == [0, 1]
    assert Collecting(size, None, needs_columns=False).left == USUAL_SIZE


def test_rows_of_one_message_are_acknowledged_together_and_not_delivered_again(
    consumer: FakeConsumer, client: CanalConnector
) -> None:
    packed = row_record([{"id": "1"}, {"id": "2"}, {"id": "3"}], orders="0,1,2", key=False)
    consumer.gives(packed, *rows(7, 8))
    first = client.get_without_ack(2)
    second = client.get_without_ack(1)
    assert (offsets(first), offsets(second)) == ([0, 0, 0], [7])
    assert client.ack(first.id)
    assert consumer.committed["shop", 0] == 7
    assert offsets(client.get_without_ack(1)) == [8]


def test_a_client_that_waits_for_a_full_batch_ends_when_its_table_moves(
    consumer: FakeConsumer, client: CanalConnector
) -> None:
    def move() -> list[FakeMessage]:
        moves(client)
        return rows(1)

    consumer.gives(*rows(0))
    consumer.answers.append(move)
    found = client.get_without_ack(10, 0)
    assert offsets(found) == [0, 1], "they are not lost with the error"
    assert client.ack(found.id), "what was received can be acknowledged"
    assert consumer.committed["shop", 0] == 2
    with pytest.raises(TableMoved):
        client.get_without_ack(10, 0)


def test_a_client_without_changes_is_told_at_once_that_its_table_moved(
    consumer: FakeConsumer, client: CanalConnector
) -> None:
    def move() -> list[FakeMessage]:
        moves(client)
        return []

    consumer.answers.append(move)
    with pytest.raises(TableMoved):
        client.get_without_ack(10, 0)


def test_an_interruption_ends_a_wait_without_an_error(
    consumer: FakeConsumer, client: CanalConnector
) -> None:
    client.interrupted = lambda: consumer.asked > 0
    assert client.get_without_ack(10, 0) == Message(EMPTY_ID, [])


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("", {"shop.a", "crm.b", "crm.(", "crm.x,y"}),
        (" , ", {"shop.a", "crm.b", "crm.(", "crm.x,y"}),
        (r"crm\.\(,shop\.a", {"crm.(", "shop.a"}),
        (r"crm\.[(],shop\.a", {"crm.(", "shop.a"}),
        (r"crm\.[])(],shop\.a", {"crm.(", "shop.a"}),
        (r"crm\.x[,]y,shop\.a", {"crm.x,y", "shop.a"}),
        (r"crm\.x\,y,shop\.a", {"crm.x,y", "shop.a"}),
        (r"crm\.\[?b,shop\.a", {"crm.b", "shop.a"}),
        (r"shop\.a),crm\.(b|c)", None),
        (r"(shop|crm)\.[ab]{1,1}", {"shop.a", "crm.b"}),
        (r"SHOP\.A , CRM\.B", {"shop.a", "crm.b"}),
    ],
)
def test_a_filter_is_cut_at_the_commas_between_its_expressions(
    text: str, taken: set[str] | None
) -> None:
    if taken is None:
        with pytest.raises(UsageError, match="list of regular expressions"):
            canal_filter(text)
        return
    takes = canal_filter(text)
    assert {each for each in ("shop.a", "crm.b", "crm.(", "crm.x,y") if takes(each)} == taken


_ATOMS = st.sampled_from(["a", r"\(", r"\)", r"\,", "[(]", "[)]", "[,]", "[^,]", "(a|b)", "b{0,2}"])


@given(st.lists(st.lists(_ATOMS, min_size=1, max_size=3).map("".join), min_size=1, max_size=3))
def test_a_filter_takes_what_one_of_its_expressions_takes(expressions: list[str]) -> None:
    whole = canal_filter(",".join(expressions))
    names = ["a", "b", "(", ")", ",", "aa", "a(", "(a", "bb", "a,", "ab", "", "x"]
    each = [canal_filter(one) for one in expressions]
    assert [whole(name) for name in names] == [any(one(name) for one in each) for name in names]

"""The admin's answers: what a client can read, and what it refuses by name."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from urllib.error import URLError
from urllib.request import Request

import pytest

from roma_client import Retry, Subscription, TransactionSubscription
from roma_client.errors import (
    AdminRefused,
    ClientError,
    IncompatibleVersion,
    TableMoved,
    TransactionIncomplete,
    UnknownTag,
    UsageError,
)
from roma_client.kafka.feed import Feed
from roma_client.names.answer import Answer, read_answer
from roma_client.names.cache import Cache
from roma_client.names.topic_directory import Directory
from roma_client.names.watcher import NameWatcher
from tests.support.waiting import wait_until


def answer(**instance: str) -> dict[str, Any]:
    own = {"name": "a", "names": "logical", "value_style": "exact", "ddl": "topic"}
    own |= {"format": "canal-json", **instance}
    table = {
        "logical_database": "shop",
        "logical_table": "orders",
        "topics": ["shop", "copy"],
        "tags": ["orders", "paid"],
        "instances": [own],
    }
    return {
        "set": 3,
        "bootstrap_servers": "kafka:9092",
        "caller": "billing",
        "envelope_version": 1,
        "tables": [table],
    }


def test_topics_in_another_format_are_left_out() -> None:
    mixed = answer(format="avro")
    (instance,) = mixed["tables"][0]["instances"]
    instance["formats"] = {"shop": "avro", "copy": "canal-json"}
    (table,) = read_answer(mixed, typed=True).tables
    assert (table.topics, table.statement_topics) == (("copy",), ("copy.ddl",))
    instance["formats"]["copy"] = "protobuf"
    with pytest.raises(IncompatibleVersion, match="in the format avro, protobuf, this client"):
        read_answer(mixed, typed=True)


def test_a_former_topic_is_read_although_the_mapping_has_another_format_only() -> None:
    changed = answer(format="avro")
    (table,) = read_answer(changed, typed=True, named_topic="former").tables
    assert table.name == "shop.orders"
    with pytest.raises(IncompatibleVersion, match="in the format avro"):
        read_answer(changed, typed=True, named_topic="shop")


def test_a_table_is_read_from_its_first_topic_and_its_statements_beside_it() -> None:
    (table,) = read_answer(answer(), typed=True).tables
    assert (table.name, table.topic, table.statement_topics) == (
        "shop.orders",
        "shop",
        ("shop.ddl",),
    )
    assert read_answer(answer(ddl="inline"), typed=True).tables[0].statement_topics == ()
    with pytest.raises(UnknownTag, match="Similar name: paid"):
        table.check_tags(frozenset({"payd"}))


def test_messages_of_another_form_are_refused_by_name() -> None:
    with pytest.raises(IncompatibleVersion, match="have version 2, this client reads 1"):
        read_answer({**answer(), "envelope_version": 2}, typed=True)
    with pytest.raises(IncompatibleVersion, match="under real names"):
        read_answer(answer(names="real"), typed=False)
    with pytest.raises(IncompatibleVersion, match="in the format debezium-json"):
        read_answer(answer(format="debezium-json"), typed=False)
    with pytest.raises(IncompatibleVersion, match='values="text"'):
        read_answer(answer(value_style="canal"), typed=True)
    assert read_answer(answer(value_style="canal"), typed=False).number == 3


@pytest.mark.parametrize("broken", [{}, {"envelope_version": 1}, {**answer(), "tables": [{}]}])
def test_an_answer_of_something_else_is_named(broken: dict[str, Any]) -> None:
    with pytest.raises(AdminRefused, match="not from the relay's admin"):
        read_answer(broken, typed=True)


def test_the_cache_gives_back_the_answer_to_the_same_question_only(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new" / "folder")
    assert cache.load("a") is None
    cache.store("a", {"set": 1})
    assert (cache.load("a"), cache.load("b")) == ({"set": 1}, None)
    cache.file_of("a").write_text('{"format": 2, "question": "a", "answer": {}}')
    assert cache.load("a") is None
    Cache(tmp_path / "new" / "folder" / cache.file_of("a").name).store("a", {})  # logged, no error


def test_arguments_that_cannot_be_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(UsageError, match=r'tags=\["paid"\]'):
        Subscription("shop", "orders", tags="paid")
    with pytest.raises(UsageError, match=r"`kafka` sets group\.id"):
        Subscription("shop", "orders", kafka={"group.id": "x"})
    with pytest.raises(UsageError, match="at least 1"):
        Subscription("shop", "orders", retry=Retry(attempts=0))
    with pytest.raises(UsageError, match="address of the admin is missing"):
        Subscription("shop", "orders").__enter__()


def test_pauses_double_up_to_the_longest() -> None:
    retry = Retry(first_seconds=1, most_seconds=5)
    assert [round(retry.pause(each) / pause) for each, pause in [(1, 1), (2, 2), (9, 5)]] == [1] * 3
    assert all(4 <= retry.pause(50) <= 5 for _ in range(20))


def test_the_cache_keeps_the_answers_of_two_tokens_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer names its caller, and with it the default group."""
    is_away = False

    def opened(request: Request, timeout: float) -> BytesIO:
        if is_away:
            raise URLError(f"no answer in {timeout} s")
        token = request.get_header("Authorization", "Bearer nobody").split()[1]
        return BytesIO(json.dumps({**answer(), "caller": token}).encode())

    monkeypatch.setattr(
        "roma_client.names.topic_directory.build_opener", lambda *_: SimpleNamespace(open=opened)
    )
    tokens = ("billing", "search", None)
    services = [Directory("http://admin", each, Cache(tmp_path), typed=True) for each in tokens]
    asked = [each.table("shop", "orders").caller for each in services]
    is_away = True
    assert [each.table("shop", "orders").caller for each in services] == asked
    assert asked == ["billing", "search", "nobody"]
    stored = "".join(each.read_text() for each in tmp_path.iterdir())
    assert "Bearer" not in stored
    assert "#search" not in stored


def told(
    ask: Callable[[], Answer], judge: Callable[[Answer], ClientError | None] = lambda _: None
) -> ClientError:
    """The error with which a running client stops."""
    found: list[ClientError] = []

    def has_found(watcher: NameWatcher) -> bool:
        try:
            watcher.check()
        except ClientError as exc:
            found.append(exc)
        return bool(found)

    with NameWatcher(ask, judge, 0.01) as watcher:
        wait_until(lambda: has_found(watcher), "the error")
    return found[0]


@pytest.mark.parametrize("edit", [{"value_style": "canal"}, {"names": "real"}, {"format": "avro"}])
def test_a_running_client_stops_when_it_would_read_messages_wrongly(edit: dict[str, str]) -> None:
    exc = told(lambda: read_answer(answer(**edit), typed=True))
    assert isinstance(exc, IncompatibleVersion)


def judged(tags: list[str], **more: Any) -> Callable[[Answer], ClientError | None]:
    subscription = Subscription("shop", "orders", tags=tags, group="g", **more)
    return lambda newest: subscription._judge(Mock(spec=Feed, topic="shop"), newest)  # noqa: SLF001


def test_a_running_client_stops_when_no_message_can_have_its_tag() -> None:
    edited = answer()
    edited["tables"][0]["tags"] = ["orders", "payed"]
    exc = told(lambda: read_answer(edited, typed=True), judged(["orders", "paid"]))
    assert isinstance(exc, UnknownTag)
    assert "tag paid (set 3)" in exc.reason
    assert 'topic="shop"' in exc.remedy
    edited["tables"][0]["topics"] = ["other"]
    stopped = judged(["orders"], moves="stop")(read_answer(edited, typed=True))
    assert isinstance(stopped, TableMoved)
    assert judged(["orders"])(read_answer(edited, typed=True)) is None


def test_a_service_that_names_the_topic_reads_former_tags_beside_a_known_one() -> None:
    (table,) = read_answer(answer(), typed=True).tables

    def check(tags: list[str], topic: str | None) -> None:
        Subscription("shop", "orders", tags=tags, topic=topic)._check_tags(table)  # noqa: SLF001

    check(["paid", "former"], "shop")
    with pytest.raises(UnknownTag):
        check(["paid", "former"], None)
    with pytest.raises(UnknownTag):
        check(["former"], "shop")


def test_a_client_of_transactions_is_told_what_it_can_do_after_an_edit() -> None:
    client = TransactionSubscription("a", ["shop.orders"], group="g")
    edited = answer(transaction_topic="tx2")
    newest = read_answer(edited, typed=True)
    assert client._judge(newest, {"shop.orders": "shop"}, "tx2") is None  # noqa: SLF001
    renamed = client._judge(newest, {"shop.orders": "shop"}, "tx")  # noqa: SLF001
    assert isinstance(renamed, TransactionIncomplete)
    assert 'transaction_topic="tx"' in renamed.remedy
    moved = client._judge(newest, {"shop.orders": "former"}, "tx2")  # noqa: SLF001
    assert isinstance(moved, TableMoved)
    assert 'former_topics=["former"]' in moved.remedy


def test_former_topics_are_read_beside_those_of_the_mapping() -> None:
    client = TransactionSubscription("a", ["shop.orders"], former_topics=["old"])
    options = client._options(  # noqa: SLF001
        read_answer(answer(), typed=True), {"shop.orders": "shop"}, "g", "tx"
    )
    assert options.topics == ("old", "shop", "tx")
    assert options.selection.takes_row("shop", "orders", "old")
    with pytest.raises(UsageError, match="must be a list"):
        TransactionSubscription("a", ["shop.orders"], former_topics="old")

"""The admin's answers: what a client can read, and what it refuses by name."""

from pathlib import Path
from typing import Any

import pytest

from roma_client import Retry, Subscription
from roma_client.errors import AdminRefused, IncompatibleVersion, UnknownTag, UsageError
from roma_client.names.answer import read_answer
from roma_client.names.cache import Cache


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


def test_a_table_is_read_from_its_first_topic_and_its_statements_beside_it() -> None:
    (table,) = read_answer(answer(), typed=True).tables
    assert (table.name, table.topic, table.statement_topics) == (
        "shop.orders",
        "shop",
        ("shop.ddl",),
    )
    assert read_answer(answer(ddl="inline"), typed=True).tables[0].statement_topics == ()
    with pytest.raises(UnknownTag, match="Written like it: paid"):
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

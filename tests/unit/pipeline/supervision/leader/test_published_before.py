"""Which tables an instance published to a topic before its session: those that it has read, as the
mapping set of its position record routes them.
"""

from types import SimpleNamespace
from typing import Any

from relay.model.table import TableId, tables_named
from relay.pipeline.supervision.leader.run_topics import PublishedBefore
from relay.route import MappingSet, Router
from relay.settings import RoutingSettings
from relay.state import HashedKey
from tests.unit.route.mappings import documents

ORDERS = TableId("shop", "orders")
DBS = [{"logicDb": "shop", "realDbs": "shop_1,shop_2"}]


def mapping(number: int, topic: str) -> MappingSet:
    return MappingSet.compile(
        number, documents(dbs=DBS, topics=[{"logicDb": "shop", "topic": topic}])
    )


def before(*tables: str, record: Any = "a record", former: str = "") -> PublishedBefore:
    """Return what an instance knows under a set with topic `now`; `former`: that of its record."""
    routing = RoutingSettings()
    found = SimpleNamespace(mapping=mapping(1, former)) if former else None
    active = SimpleNamespace(
        router=Router(mapping(2, "now"), routing), published_set=lambda *_: found
    )
    context: Any = SimpleNamespace(mapping=active, instance=SimpleNamespace(routing=routing))
    return PublishedBefore(context, frozenset(tables_named(tables)), record, lambda _: None)


def key(topic: str, shard: str = "") -> HashedKey:
    (real,) = tables_named([shard]) if shard else (None,)
    return HashedKey(topic, ORDERS, "-", real)


def test_a_table_that_was_read_went_to_the_topic_of_its_mapping() -> None:
    assert before("shop_2.orders").had_rows(key("now"))
    assert not before("shop_2.orders").had_rows(key("other"))
    assert not before("shop_2.users", "elsewhere.orders").had_rows(key("now"))
    assert not before("shop_2.orders", record=None).had_rows(key("now")), "its first start"


def test_a_mapping_edit_since_the_record_makes_no_past() -> None:
    moved = before("shop_1.orders", former="then")
    assert (moved.had_rows(key("then")), moved.had_rows(key("now"))) == (True, False)


def test_keys_that_name_their_real_table_are_those_of_that_table() -> None:
    read = before("shop_1.orders")
    assert read.had_rows(key("now", "shop_1.orders"))
    assert not read.had_rows(key("now", "shop_2.orders"))

"""The forms of keys on a real ZooKeeper: one node for a logical table, few for its real ones."""

from functools import partial

from deploy.embedded import ZooKeeper
from relay.model.records.topic_partitioning import PartitioningRules, TopicPartitioning
from relay.state import KeyFormStore, Paths, TopicAgreementStore, statements_of
from tests.servers.fixtures import FreshName
from tests.support.relays.zookeeper_sessions import session_with

SHARDS = 600


def _first(form: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    assert known == ()
    return form


def test_real_tables_share_nodes_and_keep_their_own_forms(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    with session_with(zookeeper.hosts) as session:
        paths = Paths(f"/{fresh_name('forms')}")
        store = KeyFormStore(session, paths)
        at = ("t", "shop.orders", "rules")
        assert store.read(*at) == store.read_all(*at) == ()
        for number in range(SHARDS):
            form = ("latin1" if number % 2 else "utf8",)
            assert store.change(*at, partial(_first, form), f"shop.orders_{number}") == form
        assert store.read(*at) == (), "keys without a real table are others"
        assert store.change(*at, lambda known: (*known, "gbk")) == ("gbk",)
        assert store.change(*at, lambda _: None, "shop.orders_7") is None
        assert store.read(*at, "shop.orders_7") == ("latin1",)
        assert store.read(*at, "shop.orders_8") == ("utf8",)
        assert sorted(store.read_all(*at)) == ["gbk", "latin1", "utf8"]
        assert store.read_all("t", "shop.orders", "other rules") == ()
        assert len(session.children(paths.key_forms("t", "shop.orders"))) <= 256


def test_agreements_of_many_topics_are_read_together(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    partitioning = TopicPartitioning(4, PartitioningRules("", True, "logical"))
    with session_with(zookeeper.hosts) as session:
        store = TopicAgreementStore(session, Paths(f"/{fresh_name('topics')}"))
        store.change("a", lambda found: found.with_feeder("shop", partitioning))
        found = store.read_all(["b", "a"])
        assert [(topic, list(each.feeders)) for topic, each in found.items()] == [
            ("b", []),
            ("a", ["shop"]),
        ]
        store.change(statements_of("a"), lambda found: found.with_feeder("crm", partitioning))
        assert (store.topics(), store.names()) == (("a",), ("a", "a#statements"))

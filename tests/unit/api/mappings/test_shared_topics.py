"""A dry run says which instances would feed one topic and place its rows differently."""

from typing import Any

from api.services.mappings.effects.shared_topics import SharedTopics
from relay.model.records.topic_partitioning import TopicAgreement, TopicPartitioning
from relay.model.table import tables_named
from relay.route import MappingSet
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents

TABLES = {"one": ["shop_1.t"], "two": ["shop_2.t", "other.t", "odd"], "idle": []}
MET = {name: tables_named(tables) for name, tables in TABLES.items()}
MAPPING = MappingSet.compile(
    1,
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop_1,shop_2"}],
        topics=[{"logicDb": "shop", "topic": "shop"}],
    ),
)
APART = MappingSet.compile(
    1,
    documents(
        dbs=[{"logicDb": "a", "realDbs": "shop_1"}, {"logicDb": "b", "realDbs": "shop_2"}],
        topics=[{"logicDb": "a", "topic": "a"}, {"logicDb": "b", "topic": "b"}],
    ),
)


def instance(name: str, **settings: Any) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {"name": name, "source": {"host": "h", "user": "u"}, **settings}
    )


def sentences(
    mapping: MappingSet, *instances: InstanceSettings, agreed: TopicAgreement | None = None
) -> list[str]:
    shared = SharedTopics(MET, lambda _: agreed or TopicAgreement())
    return [each.sentence for each in shared.contradictions(instances, mapping)]


def test_other_counts_and_other_rules_are_told_where_both_instances_feed_the_topic() -> None:
    four, eight = {"partition": {"partitions_num": 4}}, {"partition": {"partitions_num": 8}}
    (counts,) = sentences(
        MAPPING, instance("one", **four), instance("two", **eight), instance("idle", **eight)
    )
    assert "by 4 and 8 partitions" in counts
    (rules,) = sentences(
        MAPPING, instance("one"), instance("two", partition={"database_hash": False})
    )
    assert "by other rules" in rules
    assert sentences(MAPPING, instance("one", **four), instance("two", **four)) == []
    assert sentences(APART, instance("one", **four), instance("two", **eight)) == []
    assert (
        sentences(
            MAPPING,
            instance("one", **four),
            instance("two", filter={"filter_regex": "other\\..*"}, **eight),
        )
        == []
    )


def test_a_count_that_no_setting_tells_is_the_agreed_one() -> None:
    agreed = TopicAgreement().with_feeder(
        "one", TopicPartitioning(4, instance("one").partitioning_rules)
    )
    (told,) = sentences(
        MAPPING, instance("one"), instance("two", partition={"partitions_num": 8}), agreed=agreed
    )
    assert "by 4 and 8 partitions" in told
    assert sentences(MAPPING, instance("one"), instance("two"), agreed=agreed) == []


def test_two_formats_of_one_topic_are_told() -> None:
    avro = {"message": {"format": "avro"}, "registry": {"url": "http://r"}}
    (told,) = sentences(MAPPING, instance("one", **avro), instance("two"))
    assert "as avro and canal-json" in told
    assert "FORMATS_DIFFER" in told
    assert sentences(APART, instance("one", **avro), instance("two")) == []
    by_rule = {"topic": {"rules": [{"topics": "shop", "format": "debezium-json"}]}}
    partitioning = TopicPartitioning(4, instance("one").partitioning_rules)
    before = TopicAgreement().with_feeder("one", partitioning, "canal-json")
    (changed,) = sentences(MAPPING, instance("one", **by_rule), agreed=before)
    assert "as canal-json, and its settings choose debezium-json" in changed
    assert "FORMAT_CHANGED" in changed
    assert sentences(MAPPING, instance("one"), agreed=before) == []


def test_rows_in_a_topic_of_heartbeats_are_told() -> None:
    own = {"heartbeat": {"topic": "shop"}}
    (told,) = sentences(MAPPING, instance("one", **own))
    assert "one would send rows to shop, the topic of transactions or heartbeats of one" in told
    assert "TOPIC_REFUSED" in told
    (other,) = sentences(MAPPING, instance("one"), instance("idle", **own))
    assert "heartbeats of idle." in other
    assert sentences(APART, instance("one", **own)) == []


def test_rows_in_a_topic_of_the_installation_s_own_records_are_told() -> None:
    documents_ = documents(
        dbs=[{"logicDb": "roma", "realDbs": "shop_1"}],
        tbs=[{"logicTb": "audit", "realTbs": "t"}],
        topics=[{"logicDb": "roma", "topic": "{db}.{table}"}],
    )
    mapping = MappingSet.compile(1, documents_)
    for installation, wanted in (("roma", 1), ("prod", 0), ("", 0)):
        shared = SharedTopics(MET, lambda _: TopicAgreement(), installation=installation)
        told = [each.sentence for each in shared.contradictions([instance("one")], mapping)]
        assert len(told) == wanted
        assert all("one would send rows to roma.audit" in each for each in told)

"""Topics that must not have rows, and topics that another process creates at the same moment."""

from typing import Any

import pytest

from relay.errors import BrokerUnreachable, TopicRefused
from relay.kafka import TopicSpec, TopicState
from relay.model.names.own_topics import is_own_topic, own_records_mixed
from relay.model.records.topic_partitioning import TopicAgreement
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.delivery.topic_feeders import TopicFeeders
from relay.pipeline.delivery.topics import Refusals, Topics
from relay.settings import KafkaSettings
from tests.unit.pipeline.delivery.test_topic_formats import Agreements, settings

KAFKA = KafkaSettings(bootstrap_servers="127.0.0.1:1", replication_factor=1, min_insync_replicas=1)
SETTINGS = {
    "min.insync.replicas": "1", "cleanup.policy": "delete", "retention.ms": "-1",
    "retention.bytes": "-1",
}  # fmt: skip


class Cluster:
    """The topics of a cluster. `of_others` are created by others after they were asked for once."""

    def __init__(self, *of_others: TopicState, hidden: bool = False) -> None:
        self.topics: dict[str, TopicState] = {}
        self.of_others = {each.name: each for each in of_others}
        self.hidden = hidden
        self.created: list[str] = []

    def state(self, name: str) -> TopicState | None:
        return self.topics.get(name)

    def create(self, spec: TopicSpec, *, only_ask: bool = False) -> bool:
        assert not only_ask
        if (other := self.of_others.get(spec.name)) is not None:
            if not self.hidden:
                self.topics[spec.name] = other
            return False
        self.created.append(spec.name)
        self.topics[spec.name] = TopicState(spec.name, spec.partitions, 1, spec.settings)
        return True


def topics(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, installation: str = "roma", **fields: Any
) -> Topics:
    monkeypatch.setattr("relay.pipeline.delivery.topics.TopicAdmin", lambda _: cluster)
    notes: Any = type("Notes", (), {"topics": Agreements(TopicAgreement()), "key_forms": None})()
    nothing: Any = None

    def refuse_own(topic: str) -> None:
        if is_own_topic(topic, installation):
            raise own_records_mixed(topic)

    return Topics(
        KAFKA,
        settings("canal-json", **fields),
        PublishedPartitioning.of(None),
        MessageSizes(KAFKA),
        TopicFeeders(notes, "shop"),
        nothing,
        in_use=lambda _: None,
        refusals=Refusals(own=refuse_own),
    )


OWN = [
    "roma.audit", "roma.position.shop", "roma.position.other", "roma.dead-letters.shop",
    "roma.schema.shop", "roma.xa.shop", "roma.schema-first.group",
]  # fmt: skip


@pytest.mark.parametrize("topic", OWN)
def test_rows_never_go_to_the_installation_s_own_records(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster()
    made = topics(monkeypatch, cluster)
    with pytest.raises(TopicRefused, match="the installation's own") as refused:
        made.partitions(topic)
    assert "document topics" in refused.value.way_out
    with pytest.raises(TopicRefused):
        made.ensure_single(topic)
    assert cluster.created == []


@pytest.mark.parametrize("topic", ["roma.audits", "roma.positions.shop", "other.audit", "roma"])
def test_names_that_only_resemble_them_are_ordinary(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert topics(monkeypatch, Cluster()).partitions(topic) == 1


@pytest.mark.parametrize("rows_first", [True, False])
def test_rows_and_statements_of_another_topic_are_not_mixed(
    rows_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern gives a topic whose statements go to a topic that another database names."""
    made = topics(monkeypatch, Cluster())
    first, second = ("shop.t.ddl", "shop.t") if rows_first else ("shop.t", "shop.t.ddl")
    made.partitions(first)
    for _ in range(2):
        with pytest.raises(TopicRefused, match=r"rows to shop\.t\.ddl, the topic of statements"):
            made.partitions(second)


def test_without_a_topic_of_statements_a_topic_may_have_such_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = topics(monkeypatch, Cluster(), message={"ddl": "inline"})
    assert [made.partitions(each) for each in ("shop.t", "shop.t.ddl")] == [1, 1]


def test_a_topic_that_another_process_creates_meanwhile_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compacted = TopicState("shop", 4, 1, {**SETTINGS, "cleanup.policy": "compact"})
    with pytest.raises(TopicRefused, match=r"cleanup\.policy=compact"):
        topics(monkeypatch, Cluster(compacted)).partitions("shop")
    fewer = TopicState("shop", 4, 1, SETTINGS)
    with pytest.raises(TopicRefused, match="has 4 partitions"):
        topics(monkeypatch, Cluster(fewer), partition={"partitions_num": 8}).partitions("shop")
    assert topics(monkeypatch, Cluster(fewer)).partitions("shop") == 4, "not 1, the default"
    with pytest.raises(BrokerUnreachable, match="One broker has topic shop"):
        topics(monkeypatch, Cluster(fewer, hidden=True)).partitions("shop")

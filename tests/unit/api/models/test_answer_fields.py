"""Fields of answers that clients of the interface read, whatever the code calls the values."""

from fractions import Fraction

from api.models.position import RepartitionView
from relay.model.records.topic_partitioning import PartitioningRules, TopicPartitioning
from relay.operations import RepartitionPlan


def test_the_preview_of_a_repartition_has_the_moved_share() -> None:
    after = TopicPartitioning(4, PartitioningRules("", database_hash=False, names="logical"))
    plan = RepartitionPlan("shop", 2, after, Fraction(1, 2), False, {}, None)
    assert RepartitionView.of("shop-a", plan).model_dump(exclude={"sentences"}) == {
        "topic": "shop",
        "partitions_before": 2,
        "partitions": 4,
        "moved_share": 0.5,
        "rules_differ": False,
        "waits_for": [],
    }

"""Which topics a copy of tables may go to."""

import pytest

from relay.errors import SnapshotRefused
from relay.operations import WantedSnapshot
from relay.operations.wanted_snapshots import check_wanted


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ("shop orders", "cannot be a topic"),
        ("__consumer_offsets", "cannot be a topic"),
        ("{db}.copy", "a pattern"),
        ("shop.ddl", "statements about the tables of shop"),
        ("prod.audit", "of the relay itself"),
        ("prod.position.shop", "of the relay itself"),
        ("prod.schema.shop", "of the relay itself"),
        ("prod.xa-first.shop", "of the relay itself"),
        ("prod.dead-letters.shop", "of the relay itself"),
    ],
)
def test_a_topic_that_takes_no_rows_is_refused_at_the_request(topic: str, why: str) -> None:
    with pytest.raises(SnapshotRefused, match=why):
        check_wanted([WantedSnapshot(("shop.orders",), to_topic=topic)], "prod")


@pytest.mark.parametrize("topic", ["", "shop", "shop.copy", "prod.schemata", "prod.auditing"])
def test_other_topics_are_taken(topic: str) -> None:
    check_wanted([WantedSnapshot(("shop.orders",), to_topic=topic)], "prod")

"""What is wrong with a topic is decided from its form and the settings alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import TopicRefused
from relay.kafka import (
    TopicFinding,
    TopicState,
    WantedTopic,
    accept,
    position_topic_findings,
    row_topic_findings,
    surplus_partitions,
    transaction_timeout_error,
)

WANTED = WantedTopic(
    partitions=4,
    retention="forever",
    replication_factor=3,
    min_insync_replicas=2,
    message_max_bytes=1_000_000,
)
AS_MADE = {**WANTED.settings, "max.message.bytes": "1048588"}
GOOD = TopicState("orders", 4, 3, AS_MADE)


def found(state: TopicState, wanted: WantedTopic = WANTED) -> list[tuple[bool, str]]:
    return [(each.warning, each.error.reason) for each in row_topic_findings(state, wanted)]


def with_settings(**changed: str) -> TopicState:
    return replace(
        GOOD,
        settings={**AS_MADE, **{name.replace("_", "."): value for name, value in changed.items()}},
    )


@pytest.mark.parametrize("retention", ["forever", "compact", "72h"])
def test_a_topic_as_the_relay_makes_it_is_accepted(retention: str) -> None:
    wanted = replace(WANTED, retention=retention)
    assert found(replace(GOOD, settings=wanted.settings), wanted) == []


def test_a_right_that_lacks_is_a_fault_unless_the_brokers_do_not_say() -> None:
    assert (
        found(replace(GOOD, permitted=frozenset({"Write", "Describe"})))
        == found(replace(GOOD, permitted=None))
        == []
    )
    assert found(replace(GOOD, permitted=frozenset({"Read"}))) == [
        (False, "The relay's principal lacks Write on topic orders.")
    ]
    position = replace(
        GOOD,
        partitions=1,
        settings={"cleanup.policy": "compact", "min.insync.replicas": "2"},
        permitted=frozenset({"Write"}),
    )
    assert [each.error.code for each in position_topic_findings(position, WANTED)] == [
        "KAFKA_NOT_PERMITTED"
    ]


def test_more_partitions_are_a_warning_and_fewer_a_fault() -> None:
    more = (
        "Topic orders has 9 partitions, and rows go only to the first 4, so that each key stays in "
        "its partition."
    )
    assert found(replace(GOOD, partitions=9)) == [(True, more)]
    assert [(each.warning, each.error.reason) for each in surplus_partitions("orders", 9, 4)] == [
        (True, more)
    ]
    assert list(surplus_partitions("orders", 4, 4)) == []
    assert found(replace(GOOD, partitions=3)) == [
        (False, "Topic orders has 3 partitions, and the instance publishes to 4.")
    ]
    assert found(replace(GOOD, partitions=1), replace(WANTED, partitions=None)) == []


@pytest.mark.parametrize(
    ("retention", "policy", "needed"),
    [
        ("forever", "compact", "delete"),
        ("forever", "compact,delete", "delete"),
        ("compact", "delete", "compact"),
        ("9h", "compact", "delete"),
    ],
)
def test_a_cleanup_policy_that_contradicts_the_retention_is_refused(
    retention: str, policy: str, needed: str
) -> None:
    state = with_settings(cleanup_policy=policy)
    reason = (
        f'Topic orders has cleanup.policy={policy}, and topic.retention = "{retention}" needs '
        f"{needed}."
    )
    assert found(state, replace(WANTED, retention=retention)) == [(False, reason)]


def test_finite_retention_is_refused_where_rows_must_stay_for_ever() -> None:
    reason = (
        'Topic orders keeps rows for 604800000 ms (retention.ms), and topic.retention is "forever".'
    )
    assert found(with_settings(retention_ms="604800000")) == [(False, reason)]
    reason = (
        "Topic orders keeps rows for 1000 bytes of a partition (retention.bytes), and "
        'topic.retention is "forever".'
    )
    assert found(with_settings(retention_bytes="1000")) == [(False, reason)]


@given(hours=st.integers(1, 10_000), found_ms=st.integers(0, 10**11))
def test_a_duration_is_kept_when_the_topic_keeps_rows_as_long_or_longer(
    hours: int, found_ms: int
) -> None:
    state = with_settings(retention_ms=str(found_ms))
    assert bool(found(state, replace(WANTED, retention=f"{hours}h"))) == (
        found_ms < hours * 3_600_000
    )


def test_fewer_in_sync_replicas_than_wanted_are_refused_and_one_as_wanted_is_a_warning() -> None:
    alone = with_settings(min_insync_replicas="1")
    assert found(alone) == [
        (False, "Topic orders has min.insync.replicas=1, and kafka.min_insync_replicas requires 2.")
    ]
    sentence = (
        "Topic orders has min.insync.replicas=1: with acks=all a row counts as published when one "
        "broker has it."
    )
    assert found(alone, replace(WANTED, min_insync_replicas=1)) == [(True, sentence)]


def test_replicas_below_the_settings_are_a_warning_until_no_write_can_succeed() -> None:
    assert found(replace(GOOD, replication_factor=2)) == [
        (True, "Topic orders has 2 replicas, and kafka.replication_factor requires 3.")
    ]
    assert found(replace(GOOD, replication_factor=1)) == [
        (False, "Topic orders has 1 replicas and min.insync.replicas=2: no write can succeed.")
    ]


def test_a_smaller_message_limit_is_a_warning() -> None:
    assert [warning for warning, _ in found(with_settings(max_message_bytes="999999"))] == [True]


def test_the_position_topic_has_one_partition_and_is_compacted() -> None:
    good = TopicState("p", 1, 3, {"cleanup.policy": "compact", "min.insync.replicas": "2"})
    assert position_topic_findings(good, WANTED) == []
    for bad in (
        replace(good, partitions=2),
        replace(good, settings={**good.settings, "cleanup.policy": "delete"}),
    ):
        (finding,) = position_topic_findings(bad, WANTED)
        assert not finding.warning
        assert "it must have 1 and compact" in finding.error.reason


def test_a_transaction_may_be_as_long_as_the_brokers_allow() -> None:
    brokers = {"transaction.max.timeout.ms": "5000"}
    assert transaction_timeout_error(5000, brokers) is None
    assert transaction_timeout_error(9000, {}) is None
    error = transaction_timeout_error(5001, brokers)
    assert error is not None
    assert (
        error.reason
        == "transaction.timeout_ms is 5001, and the brokers' transaction.max.timeout.ms is 5000."
    )


def test_the_first_refusal_is_raised_and_warnings_are_not() -> None:
    warning = TopicFinding(TopicRefused("a warning"), warning=True)
    accept([warning])
    with pytest.raises(TopicRefused, match="first"):
        accept([warning, TopicFinding(TopicRefused("first")), TopicFinding(TopicRefused("second"))])

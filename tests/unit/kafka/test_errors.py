"""A refusal for want of an access right becomes an error that names the right."""

import pytest
from confluent_kafka import KafkaError

from relay.errors import (
    BatchAborted,
    BrokerUnreachable,
    DeliveryRefused,
    KafkaNotPermitted,
    RelayError,
    TopicRefused,
)
from relay.kafka import Right, relay_error, undelivered

RIGHTS = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: (
        Right("Write", "topic", "shop"),
        "Write on topic shop",
        "--operation Write --topic shop)",
    ),
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: (
        Right("Write", "transactional-id", "prod.shop"),
        "Write on transactional-id prod.shop",
        "--operation Write --transactional-id prod.shop)",
    ),
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: (
        Right("DescribeConfigs", "cluster"),
        "DescribeConfigs on the cluster",
        "--operation DescribeConfigs --cluster)",
    ),
}


@pytest.mark.parametrize(
    ("code", "right", "text", "command"), [(code, *wanted) for code, wanted in RIGHTS.items()]
)
def test_the_right_that_lacks_is_named(code: int, right: Right, text: str, command: str) -> None:
    error = relay_error(KafkaError(code), "Asking", right)
    assert isinstance(error, KafkaNotPermitted)
    assert f"the relay's principal {text} (kafka-acls.sh" in error.way_out
    assert command in error.way_out


def test_where_it_is_not_known_the_page_is_named() -> None:
    error = relay_error(KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED), "Asking")
    assert (type(error), "docs/operations/kafka.md" in error.way_out) == (KafkaNotPermitted, True)


@pytest.mark.parametrize("name", ["_TIMED_OUT", "_TIMED_OUT_QUEUE", "_MSG_TIMED_OUT"])
def test_a_request_without_an_answer_means_an_unreachable_broker(name: str) -> None:
    code: int = getattr(KafkaError, name)
    assert type(relay_error(KafkaError(code), "Asking")) is BrokerUnreachable


def test_a_refused_login_is_no_missing_right() -> None:
    assert (
        type(
            relay_error(
                KafkaError(KafkaError.SASL_AUTHENTICATION_FAILED),
                "Asking",
                Right("Read", "topic", "t"),
            )
        )
        is DeliveryRefused
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "Unable to replicate the partition 1 time(s): All brokers are currently fenced.",
            BrokerUnreachable,
        ),
        ("Replication factor: 1 larger than available brokers: 0.", BrokerUnreachable),
        ("Replication factor: 3 larger than available brokers: 1.", TopicRefused),
        (
            "The target replication factor of 3 cannot be reached: only 1 broker(s) registered.",
            TopicRefused,
        ),
    ],
)
def test_a_cluster_whose_brokers_still_start_refuses_no_topic(
    text: str, kind: type[RelayError]
) -> None:
    error = relay_error(KafkaError(KafkaError.INVALID_REPLICATION_FACTOR, text), "Creating topic t")
    assert type(error) is kind


@pytest.mark.parametrize(
    "code",
    [
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 - the client's own errors
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
    ],
)
def test_a_batch_for_a_topic_that_is_gone_is_aborted_and_topics_are_checked_again(
    code: int,
) -> None:
    error = undelivered(KafkaError(code), "Delivering to shop.ddl partition 0")
    assert (type(error), "checks its topics again" in error.way_out) == (BatchAborted, True)
    assert "shop.ddl" in error.reason
    assert type(relay_error(KafkaError(code), "Reading")) is TopicRefused
    assert type(undelivered(KafkaError(KafkaError.INVALID_CONFIG), "Delivering")) is TopicRefused


@pytest.mark.parametrize(
    ("code", "text", "remedy"),
    [
        (
            KafkaError.TOPIC_EXCEPTION,
            "Topic 'shop.order_ddl' collides with existing topic: shop.order.ddl",
            "dots and underscores",
        ),
        (KafkaError.POLICY_VIOLATION, "Topics need an owner.", "Create the topic"),
    ],
)
def test_a_topic_that_brokers_do_not_create_has_a_remedy_of_its_own(
    code: int, text: str, remedy: str
) -> None:
    error = relay_error(KafkaError(code, text), "Creating topic shop.order_ddl")
    assert type(error) is TopicRefused
    assert text in error.reason
    assert remedy in error.way_out

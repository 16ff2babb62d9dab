"""A refusal for want of an access right becomes an error that names the right."""

import pytest
from confluent_kafka import KafkaError

from relay.errors import DeliveryRefused, KafkaNotPermitted
from relay.kafka import Right, relay_error

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

"""What a message takes, and what a topic does."""

import pytest

from relay.kafka import message_bytes, topic_limit
from relay.model.message import OutboundMessage


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({}, 1_000_000),
        ({"max.message.bytes": "1048588"}, 1_000_000),
        ({"max.message.bytes": "50000"}, 50_000),
        ({"max.message.bytes": "50000", "segment.bytes": "20000"}, 20_000),
        ({"max.message.bytes": ""}, 1_000_000),
    ],
)
def test_the_smallest_of_what_client_and_topic_take_counts(
    settings: dict[str, str], limit: int
) -> None:
    assert topic_limit(settings, 1_000_000) == limit


def test_key_value_and_headers_count() -> None:
    bare = message_bytes(OutboundMessage("t", 0, None, None, ()))
    assert (
        message_bytes(OutboundMessage("t", 0, b"key", b"value", (("tag", b"x"),)))
        == bare + 3 + 5 + 3 + 1 + 10
    )

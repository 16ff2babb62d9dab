"""What a refused size means, and which client comes next."""

import pytest

from relay.errors import BatchAborted, MessageTooLarge
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.settings import KafkaSettings

KAFKA = KafkaSettings(bootstrap_servers="x")


def test_the_next_client_collects_what_the_smallest_topic_takes() -> None:
    sizes = MessageSizes(KAFKA)
    assert sizes.new_client().batch_bytes == KAFKA.batch_bytes
    sizes.note("large", KAFKA.batch_bytes)
    with pytest.raises(BatchAborted, match="small accepts batches of at most 5000"):
        sizes.note("small", 5000)
    assert sizes.new_client().batch_bytes == 5000
    sizes.note("small", 5000)


@pytest.mark.parametrize(
    ("oversize", "expected"),
    [("stop", MessageTooLarge), ("dead_letter", BatchAborted), ("claim_check", BatchAborted)],
)
def test_a_first_refusal_asks_again_unless_it_is_to_stop(
    oversize: str, expected: type[Exception]
) -> None:
    assert type(MessageSizes(KAFKA).after_refusal(MessageTooLarge("x"), oversize, 7)) is expected


def test_a_second_refusal_without_a_commit_between_is_a_stop() -> None:
    sizes, refusal = MessageSizes(KAFKA), MessageTooLarge("x")
    assert type(sizes.after_refusal(refusal, "dead_letter", 7)) is BatchAborted
    assert type(sizes.after_refusal(refusal, "dead_letter", 8)) is BatchAborted
    assert sizes.after_refusal(refusal, "dead_letter", 8) is refusal

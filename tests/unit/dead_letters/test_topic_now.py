"""Whether the topic of a dead letter takes its message now."""

import pytest

from api.models.dead_letter import OneLetterView
from relay.dead_letters import DeadLetter, ListedDeadLetter
from relay.kafka import message_bytes
from relay.model.message import OutboundMessage

MESSAGE = OutboundMessage("shop", 0, b"key", b"value", (("order", b"1"),))


def listed() -> ListedDeadLetter:
    letter = DeadLetter(
        id="0001-0",
        code="MESSAGE_TOO_LARGE",
        reason="It is too large.",
        real="shop_01.user",
        logical="shop.client",
        file="bin.000007",
        offset=4,
        gtid="",
        execute_time=1,
        execute_position=2,
        message=MESSAGE,
        value_bytes=5,
        written_ms=3,
    )
    return ListedDeadLetter(letter, None)


@pytest.mark.parametrize(
    ("limit", "fits"),
    [(message_bytes(MESSAGE), True), (message_bytes(MESSAGE) - 1, False), (None, None)],
)
def test_the_message_is_compared_with_the_present_limit(
    limit: int | None, fits: bool | None
) -> None:
    assert OneLetterView.now(listed(), limit, None, key_hidden=False).fits_now is fits

"""Canal's verbs on a real relay: batches, acknowledgements in order, rollback, two clients."""

from typing import Any

import pytest

from roma_client.canal import EMPTY_ID, CanalConnector, Message
from roma_client.errors import BatchUnknown, NotActive, NotConnected, UsageError
from tests.e2e.client.conftest import Shop
from tests.support.waiting import wait_until

WAIT = 60.0


def connector(shop: Shop, **more: Any) -> CanalConnector:
    own = {name: shop.arguments()[name] for name in ("admin", "token", "cache", "group")}
    return CanalConnector(**{**own, "ddl": False, "session_timeout_seconds": 6, **more})


def fill(shop: Shop, begin: int, end: int) -> None:
    """Insert rows whose partition is the same, so that their order is one."""
    values = ", ".join(f"({number * 4}, {number})" for number in range(begin, end))
    shop.execute(f"insert into {{t}} (id, n) values {values}")


def numbers(message: Message) -> list[int]:
    return sorted(int(each.row["n"]) for each in message.changes)


def test_batches_are_acknowledged_in_order_and_a_rollback_returns_to_the_last_one(
    shop: Shop,
) -> None:
    fill(shop, 0, 6)
    with connector(shop) as client:
        client.subscribe(rf"{shop.name}\..*")
        first = client.get_without_ack(2, WAIT)
        second = client.get_without_ack(2, WAIT)
        third = client.get_without_ack(2, WAIT)
        assert [each.id for each in (first, second, third)] == [1, 2, 3]
        assert sorted(n for each in (first, second, third) for n in numbers(each)) == [*range(6)]
        assert client.get_without_ack(2) == Message(EMPTY_ID, [])
        for wrong in (second.id, third.id, 9):
            with pytest.raises(BatchUnknown):
                client.ack(wrong)
        client.ack(first.id)
        with pytest.raises(
            BatchUnknown, match=r"Batch 3 is not the oldest pending batch; the oldest is 2\."
        ):
            client.rollback(third.id)
        client.rollback(second.id)
        again = client.get_without_ack(10, 2)
        assert numbers(again) == sorted(numbers(second) + numbers(third))
        assert again.id == 4
        client.rollback()
        assert numbers(client.get(10, 2)) == numbers(again)
        fill(shop, 6, 7)
        assert numbers(client.get(1, WAIT)) == [6]
        fill(shop, 7, 8)
        assert numbers(client.get_without_ack(1, WAIT)) == [7]
    with connector(shop) as client:
        client.subscribe(rf"{shop.name}\.t")
        assert numbers(client.get(1, WAIT)) == [7]


def test_verbs_in_another_order_are_refused(shop: Shop) -> None:
    client = connector(shop)
    with pytest.raises(NotConnected, match="before connect"):
        client.subscribe()
    client.connect()
    with pytest.raises(NotConnected, match="no subscription"):
        client.get(1)
    with pytest.raises(UsageError, match="matches no logical table"):
        client.subscribe("nowhere")
    client.disconnect()


def test_a_client_that_was_too_slow_cannot_acknowledge_any_more(shop: Shop) -> None:
    fill(shop, 0, 2)
    slow = connector(shop, kafka={"max.poll.interval.ms": 6000})
    quick = connector(shop)
    with slow, quick:
        slow.subscribe(rf"{shop.name}\.t")
        late = slow.get_without_ack(2, WAIT)
        assert numbers(late) == [0, 1]
        quick.subscribe(rf"{shop.name}\.t")
        got: list[Message] = []

        def taken_over() -> bool:
            got.append(quick.get_without_ack(2, 1))
            return got[-1].id != EMPTY_ID

        wait_until(taken_over, "the quick client to get the batch")
        assert numbers(got[-1]) == [0, 1]
        with pytest.raises(NotActive, match="is too late"):
            slow.ack(late.id)
        quick.ack(got[-1].id)

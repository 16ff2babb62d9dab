"""A cancelled wait for a change or transaction acknowledges only what the service received."""

import asyncio
from contextlib import ExitStack
from threading import Event
from unittest.mock import Mock

import pytest

from roma_client import Subscription, TransactionSubscription
from roma_client.async_changes import AsyncChanges, AsyncTransactions, OneThread
from roma_client.changes import Changes
from roma_client.metrics import NoMetrics
from roma_client.names.watcher import NameWatcher
from roma_client.transactions import Transactions
from tests.support.clients.fake_consumer import FakeConsumer, FakeMessage, opened_feed
from tests.support.clients.made_records import row_record


def test_a_change_that_came_after_the_wait_was_cancelled_stays_unacknowledged(
    consumer: FakeConsumer,
) -> None:
    asked, may_come = Event(), Event()

    def late() -> list[FakeMessage]:
        asked.set()
        may_come.wait()
        return [FakeMessage(row_record([{"id": "1"}], order=(1000, 2), offset=1))]

    async def cancelled() -> None:
        received = await anext(changes)
        assert received.place.offset == 0
        waiting = asyncio.ensure_future(anext(changes))
        await asyncio.to_thread(asked.wait)
        waiting.cancel()
        await asyncio.sleep(0)
        may_come.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(StopAsyncIteration):
            await anext(changes)
        await changes.commit()

    consumer.gives(row_record([{"id": "1"}]))
    consumer.answers.append(late)
    thread = OneThread()
    changes = AsyncChanges(Changes(opened_feed(), NoMetrics(), Mock(spec=NameWatcher)), thread)
    try:
        asyncio.run(cancelled())
    finally:
        thread.close()
    assert consumer.committed["shop", 0] == 1


def test_a_transaction_that_came_after_the_wait_was_cancelled_stays_unacknowledged() -> None:
    asked, may_come = Event(), Event()
    calls: list[str] = []

    def late() -> Mock:
        asked.set()
        may_come.wait()
        calls.append("take")
        return Mock()

    transactions = Mock(spec=Transactions, take=late, stop=may_come.set)
    transactions.leave_open.side_effect = lambda: calls.append("leave_open")

    async def cancelled() -> None:
        waiting = asyncio.ensure_future(anext(AsyncTransactions(transactions, thread)))
        await asyncio.to_thread(asked.wait)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    thread = OneThread()
    try:
        asyncio.run(cancelled())
    finally:
        thread.close()
    assert calls == ["take", "leave_open"]
    transactions.ack.assert_not_called()


class _SlowOpening:
    """A client whose opening waits for `may_open`, and what happened to it."""

    def __init__(self) -> None:
        self.begun, self.may_open, self.closed = Event(), Event(), Event()
        self.happened: list[str] = []

    def open(self) -> str:
        self.begun.set()
        self.may_open.wait()
        self.happened.append("opened")
        return "client"

    def close(self) -> None:
        self.happened.append("closed")
        self.closed.set()


def test_a_cancelled_opening_leaves_no_member_in_the_group() -> None:
    client = _SlowOpening()

    async def cancelled() -> None:
        opening = asyncio.ensure_future(OneThread.opened(client.open, client.close, []))
        await asyncio.to_thread(client.begun.wait)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(cancelled())
    client.may_open.set()
    assert client.closed.wait(30)
    assert client.happened == ["opened", "closed"]


def test_a_cancelled_end_closes_the_client_all_the_same() -> None:
    client, busy, may_go = _SlowOpening(), Event(), Event()
    client.may_open.set()

    def wait() -> None:
        busy.set()
        may_go.wait()

    async def cancelled() -> None:
        thread, _ = await OneThread.opened(client.open, client.close, [])
        asyncio.ensure_future(thread.call(wait))  # noqa: RUF006  # the thread is busy
        await asyncio.to_thread(busy.wait)
        ending = asyncio.ensure_future(thread.end(client.close))
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        may_go.set()

    asyncio.run(cancelled())
    assert client.closed.wait(30)
    assert client.happened == ["opened", "closed"]


@pytest.mark.parametrize(
    "subscription",
    [
        Subscription("shop", "orders", admin="http://127.0.0.1:9", token="t"),
        TransactionSubscription("shop", ["shop.orders"], admin="http://127.0.0.1:9"),
    ],
)
def test_a_subscription_whose_opening_is_cancelled_closes_what_it_opened(
    subscription: Subscription | TransactionSubscription, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = _SlowOpening()

    def opened(stack: ExitStack) -> Mock:
        client.open()
        stack.callback(client.close)
        return Mock()

    monkeypatch.setattr(subscription, "_open", opened)

    async def cancelled() -> None:
        opening = asyncio.ensure_future(subscription.__aenter__())
        await asyncio.to_thread(client.begun.wait)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(cancelled())
    client.may_open.set()
    assert client.closed.wait(30)


def test_an_opening_after_a_cancelled_one_closes_only_its_own_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subscription = Subscription("shop", "orders", admin="http://127.0.0.1:9", token="t")
    first, second = _SlowOpening(), _SlowOpening()
    second.may_open.set()
    clients = [first, second]

    def opened(stack: ExitStack) -> Mock:
        client = clients.pop(0)
        client.open()
        stack.callback(client.close)
        return Mock()

    monkeypatch.setattr(subscription, "_open", opened)

    async def opened_again() -> None:
        opening = asyncio.ensure_future(subscription.__aenter__())
        await asyncio.to_thread(first.begun.wait)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        again = asyncio.ensure_future(subscription.__aenter__())
        await asyncio.sleep(0)
        first.may_open.set()
        await again
        assert (first.happened, second.happened) == (["opened", "closed"], ["opened"])
        await subscription.__aexit__()

    asyncio.run(opened_again())
    assert second.happened == ["opened", "closed"]

"""A cancelled wait for a change or transaction acknowledges only what the service received."""

import asyncio
from threading import Event
from unittest.mock import Mock

import pytest

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

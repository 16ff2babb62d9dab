"""Changes and transactions for `async for`; the blocking client runs in a separate thread."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, MutableSequence, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar

from roma_client.changes import Changes
from roma_client.log import log_event
from roma_client.records.change import Change
from roma_client.records.transaction import Transaction
from roma_client.transactions import Transactions

P = ParamSpec("P")
R = TypeVar("R")
Cancelled: TypeAlias = MutableSequence["Future[None]"]
"""The futures that end when a client's cancelled openings are closed."""


class OneThread:
    """Runs blocking calls one after the other in one thread, because only one thread may use
    Kafka's client.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="roma-client")

    @classmethod
    async def opened(
        cls, opening: Callable[[], R], closing: Callable[[], object], cancelled: Cancelled
    ) -> tuple["OneThread", R]:
        """Call `opening` in a new thread; return the thread and the client that it opened. Raises
        the errors of `opening`.

        If this call is cancelled, `opening` runs to its end, because it cannot be interrupted. Then
        `closing` runs in the same thread, so that the consumer group keeps no unused member. The
        next opening of the same client waits for that: this call adds a future to `cancelled`, and
        the next one gets the same `cancelled`.
        """
        thread = cls()
        under_way = thread._pool.submit(_opened_after, tuple(cancelled), opening)
        try:
            return thread, await asyncio.shield(asyncio.wrap_future(under_way))
        except asyncio.CancelledError:
            cancelled.append(thread._pool.submit(_closed, under_way, closing))
            thread.close()
            raise
        except BaseException:
            thread.close()
            raise

    async def end(self, closing: Callable[[], object]) -> None:
        """Run `closing` in the thread, then end the thread, even if this call is cancelled. Raises
        the errors of `closing`.
        """
        try:
            await self._to_end(closing)
        finally:
            self.close()

    async def _to_end(self, function: Callable[[], R]) -> R:
        """Return the function's result; the function is called even if this is cancelled."""
        return await asyncio.shield(asyncio.wrap_future(self._pool.submit(function)))

    async def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function in the thread. Return its result, or raise its error."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(*args, **kwargs))

    async def call_to_end(
        self,
        function: Callable[[], R],
        stop: Callable[[], None],
        undo: Callable[[], None] | None = None,
    ) -> R:
        """Run a function in the thread. Return its result, or raise its error.

        If this call is cancelled, it calls `stop`, which makes the function return within half a
        second, and waits for that: two threads must not use Kafka's client at the same time. Then
        `undo` runs in the thread, before any other call.
        """
        running = asyncio.ensure_future(self.call(function))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop()
            left: list[asyncio.Future[Any]] = [running]
            if undo is not None:
                left.append(asyncio.ensure_future(self.call(undo)))
            await asyncio.wait(left)
            raise

    def close(self) -> None:
        """End the thread after its last call."""
        self._pool.shutdown(wait=False)


def _opened_after(cancelled: "Sequence[Future[None]]", opening: Callable[[], R]) -> R:
    """Open a client when its cancelled openings are closed."""
    wait(cancelled)
    return opening()


def _closed(opened: "Future[Any]", closing: Callable[[], object]) -> None:
    """Close what a cancelled opening has opened, and nothing else; log the error."""
    if opened.exception() is not None:
        return
    try:
        closing()
    except Exception as exc:  # noqa: BLE001  # the opening was cancelled: no caller is left
        log_event(logging.WARNING, "cancelled_opening_not_closed", reason=exc)


class _Client(Protocol):
    """The methods that the blocking clients of changes and transactions have in common."""

    @property
    def is_active(self) -> bool: ...
    def commit(self) -> None: ...
    def stop(self) -> None: ...


Items = TypeVar("Items", bound=_Client)


class _AsyncItems(Generic[Items]):
    """The methods that changes and transactions have in common."""

    def __init__(self, items: Items, thread: OneThread) -> None:
        self._items: Items = items
        self._thread = thread

    async def commit(self) -> None:
        """Send the acknowledgements to Kafka now."""
        await self._call(self._items.commit)

    def stop(self) -> None:
        """End the iteration after the item that is processed now."""
        self._items.stop()

    @property
    def is_active(self) -> bool:
        """Return whether the group has given partitions to this client."""
        return self._items.is_active

    async def _call(self, function: Callable[[], R], undo: Callable[[], None] | None = None) -> R:
        return await self._thread.call_to_end(function, self._items.stop, undo)


class AsyncChanges(_AsyncItems[Changes], AsyncIterator[Change]):
    """Iterates over changes with `async for`. Asking for the next change acknowledges the one
    before.

    A cancellation, also by `asyncio.wait_for`, ends the iteration. A change that was read during
    the cancelled call is not acknowledged: it is delivered again to the next client of the group.
    """

    def __aiter__(self) -> "AsyncChanges":
        return self

    async def __anext__(self) -> Change:
        delivery = await self._call(self._items.take, self._items.leave_open)
        if delivery is None:
            raise StopAsyncIteration
        return delivery.change

    async def ack(self) -> None:
        """Acknowledge the change that was returned last."""
        await self._call(self._items.ack)


class AsyncTransactions(_AsyncItems[Transactions], AsyncIterator[Transaction]):
    """Iterates over transactions with `async for`. Asking for the next one acknowledges the one
    before.

    A cancellation, also by `asyncio.wait_for`, ends the iteration. A transaction that was read
    during the cancelled call is not acknowledged: it is delivered again to the next client of the
    group.
    """

    def __aiter__(self) -> "AsyncTransactions":
        return self

    async def __anext__(self) -> Transaction:
        found = await self._call(self._items.take, self._items.leave_open)
        if found is None:
            raise StopAsyncIteration
        return found

    async def ack(self) -> bool:
        """Acknowledge the transaction that was returned last.

        Returns False if the group gave the partitions to another client, so that it is delivered
        again.
        """
        return await self._call(self._items.ack)

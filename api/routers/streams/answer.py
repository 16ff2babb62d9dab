"""The HTTP answer that carries server-sent events."""

from collections.abc import AsyncIterator, Callable

from anyio import CancelScope, CapacityLimiter, to_thread
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


def event(kind: str, data: str, number: str = "") -> str:
    """Return the text of one server-sent event.

    kind    type of the event
    data    JSON on one line
    number  id of the event; empty: the client keeps the last id
    """
    line = f"id: {number}\n" if number else ""
    return f"{line}event: {kind}\ndata: {data}\n\n"


class EventStream(StreamingResponse):
    """A streaming answer that frees its resources when it ends, even if the client has
    disconnected.
    """

    def __init__(
        self,
        events: AsyncIterator[str],
        close: Callable[[], None] | None = None,
        threads: CapacityLimiter | None = None,
    ) -> None:
        """`close` runs in a thread of `threads`."""
        super().__init__(
            events,
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
        self._close = close
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._close is not None:
                with CancelScope(shield=True):
                    await to_thread.run_sync(self._close, limiter=self._threads)

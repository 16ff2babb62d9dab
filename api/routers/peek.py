"""Endpoints that send the messages of a logical table as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from api.access import Caller
from api.composition import Admin
from api.deps import AdminDep, CallerDep
from api.error_status import problem_of
from api.errors import BadRequest
from api.listing import ListingDep
from api.models.peek import Operation, PeekedRowView, PeekTableView, PeekWish
from api.routers.streams import SILENCE_SECONDS, EventStream, Follower, event
from api.services.peek import AskedPeek, PeekOffsets, Reading
from relay.errors import RelayError
from relay.model.accounts import Right
from relay.operations import PeekBatch, PeekedRow

router: Final = APIRouter(prefix="/api/v1/peek", tags=["topics"])

_COUNT_SECONDS: Final = 1.0
_REST_SECONDS: Final = 0.2
_FIRST: Final = "retry: 3000\n: messages of {}\n\n"

_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": (
            "Events `row` (one row of a message), each second `count` (rows that fit the "
            "question, rows shown, offsets skipped), and `problem` before the stream ends by "
            "an error. Without a key filter 5 rows a second are shown at most, with one 100. "
            "The id of `count` continues after a broken connection. A stream ends after 5 "
            "minutes, and within seconds when the session or token of its request ends."
        ),
    }
}
LastEvent = Annotated[str, Header(description="The id of the last event received.")]


def _asked(
    request: Request,
    table: Annotated[
        str, Query(max_length=300, description="Logical table.", examples=["shop.orders"])
    ],
    op: Annotated[Operation, Query(description="One operation; empty: all.")] = "",
    start: Annotated[
        str,
        Query(
            alias="from",
            max_length=40,
            description="`now`, `last` (the newest 50 first), a span (`15m`), or a time and zone.",
        ),
    ] = "now",
) -> AskedPeek:
    check_no_key(request)
    return AskedPeek(table, op, "", start)


def check_no_key(request: Request) -> None:
    """Raise BadRequest if the request's URL has a key filter, because logs and histories store
    URLs.
    """
    if "key" in request.query_params:
        raise BadRequest(
            "The URL contains a key filter.",
            remedy="Send the key by POST, so that no log and no history contains it.",
        )


@router.get("/tables")
def list_tables(admin: AdminDep, part: ListingDep) -> list[PeekTableView]:
    """Return the logical tables whose messages can be read, sorted by name."""
    return part.of([PeekTableView.of(each) for each in admin.peek.tables().every()])


@router.get("", response_class=StreamingResponse, responses=_STREAM)
async def follow_table(
    request: Request,
    admin: AdminDep,
    caller: CallerDep,
    asked: Annotated[AskedPeek, Depends(_asked)],
    after: Annotated[
        str, Query(max_length=8000, description="Continue here: the id of an event `count`.")
    ] = "",
    last_event_id: LastEvent = "",
) -> StreamingResponse:
    """Stream the messages of a logical table, as a read_committed consumer receives them.

    The stream uses no consumer group. Values require the right `values`, and are hidden without it.
    Values that a mask or rule of an instance hides are never sent. The audit trail gets an entry.
    Send a key filter by POST.
    """
    offsets = PeekOffsets.read(last_event_id) or PeekOffsets.read(after)
    return await _stream(request, admin, caller, asked, offsets)


@router.post("", response_class=StreamingResponse, responses=_STREAM)
async def follow_keys(
    request: Request,
    admin: AdminDep,
    caller: CallerDep,
    wish: PeekWish,
    last_event_id: LastEvent = "",
) -> StreamingResponse:
    """Stream the messages of a logical table as GET does, and optionally only those of one key.

    The key is in the body, so that no log and no history contains it.
    """
    offsets = PeekOffsets.read(last_event_id) or PeekOffsets.read(wish.after)
    return await _stream(request, admin, caller, wish.asked(), offsets)


async def _stream(
    request: Request, admin: Admin, caller: Caller, asked: AskedPeek, offsets: PeekOffsets | None
) -> StreamingResponse:
    def begin() -> tuple[Reading, PeekBatch]:
        reading = admin.peek.open(caller, admin.peek.tables(), asked)
        try:
            return reading, reading.start(None if offsets is None else offsets.offsets)
        except BaseException:
            reading.close()
            raise

    reading, first = await to_thread.run_sync(begin, limiter=admin.peek.threads)
    more = frozenset({Right.VALUES}) if reading.with_values else frozenset()
    events = _events(admin, reading, first, (asked.table, Follower(request, admin, more)))
    return EventStream(events, reading.close, admin.peek.threads)


@dataclass(slots=True)
class _Count:
    """The counts since the last event `count`, and where reading continues."""

    seen: int = 0
    shown: int = 0
    skipped: int = 0
    offsets: str = ""
    sent_s: float = 0.0

    def add(self, batch: PeekBatch) -> None:
        self.seen += batch.seen
        self.shown += len(batch.rows)
        self.skipped += batch.skipped
        if batch.after is not None:
            self.offsets = PeekOffsets(batch.after).text

    def due(self, now_s: float) -> str:
        """Return the event with the count if it must be sent now, and begin to count again;
        otherwise return "".
        """
        is_silent = not (self.seen or self.skipped)
        pause_s = SILENCE_SECONDS if is_silent else _COUNT_SECONDS
        if now_s - self.sent_s < pause_s:
            return ""
        counts = {"seen": self.seen, "shown": self.shown, "skipped": self.skipped}
        self.seen = self.shown = self.skipped = 0
        self.sent_s = now_s
        return event("count", json.dumps(counts), self.offsets)


async def _events(
    admin: Admin, reading: Reading, first: PeekBatch, followed: tuple[str, Follower]
) -> AsyncIterator[str]:
    table, follower = followed
    count = _Count()
    yield _FIRST.format(table.replace("\n", " ").replace("\r", " ")) + _written(first.rows)
    count.add(first)
    while await follower.may_go_on():
        try:
            batch = await to_thread.run_sync(reading.poll, limiter=admin.peek.threads)
        except RelayError as error:
            yield event("problem", problem_of(error).model_dump_json(by_alias=True))
            return
        count.add(batch)
        if text := _written(batch.rows) + count.due(monotonic()):
            yield text
        if reading.rests:
            await asyncio.sleep(_REST_SECONDS)


def _written(rows: Iterable[PeekedRow]) -> str:
    return "".join(event("row", PeekedRowView.of(each).model_dump_json()) for each in rows)

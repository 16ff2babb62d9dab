"""Endpoint that sends state changes of instances as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from time import monotonic
from typing import Annotated, Final

from fastapi import Header, Request
from fastapi.responses import StreamingResponse

from api.deps import AdminDep
from api.routers.streams import SILENCE_SECONDS, EventStream, Follower, event
from api.routers.watch.observed import router
from api.services.watch import StateChange, Watch

_POLL_SECONDS: Final = 0.5
"""Poll interval in seconds of the log of changes, which is in memory."""


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "description": (
                "Events `state`: first each instance's present state, then every change. `data` "
                "is a JSON object with instance, state, code, reason, relay and since_ms; an "
                "instance that was removed has the state REMOVED. After a broken connection "
                "Last-Event-ID continues where it ended. A stream ends after 5 minutes, and "
                "within seconds when the session or token of its request ends."
            ),
        }
    },
)
async def follow_events(
    request: Request,
    admin: AdminDep,
    last_event_id: Annotated[str, Header(description="The id of the last event received.")] = "",
) -> StreamingResponse:
    """Stream the state changes of all instances as server-sent events."""
    return EventStream(_events(admin.watch, last_event_id, Follower(request, admin)))


async def _events(watch: Watch, last_event_id: str, follower: Follower) -> AsyncIterator[str]:
    boot, _, number = last_event_id.partition("-")
    known = int(number) if boot == watch.changes.boot and number.isdecimal() else None
    sent_s = monotonic()
    yield ": states of instances\n\n"
    while await follower.may_go_on():
        known, changes = _behind(watch, known)
        if changes or monotonic() - sent_s >= SILENCE_SECONDS:
            sent_s = monotonic()
            yield _written(changes, watch.changes.boot) or ": no change\n\n"
        await asyncio.sleep(_POLL_SECONDS)


def _behind(watch: Watch, known: int | None) -> tuple[int | None, Iterable[StateChange]]:
    """Return the newest number, and the changes that the receiver has not received."""
    changes = None if known is None else watch.changes.after(known)
    if changes is None:
        newest, present = watch.changes.present()
        return (newest if present else None), present
    return (changes[-1].number if changes else known), changes


def _written(changes: Iterable[StateChange], boot: str) -> str:
    return "".join(event("state", _json(each), f"{boot}-{each.number}") for each in changes)


def _json(change: StateChange) -> str:
    fields = change._asdict()
    del fields["number"]
    return json.dumps(fields, ensure_ascii=False)


__all__ = ["router"]

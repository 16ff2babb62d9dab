"""Checks whether the client of a stream still has the rights with which the stream began."""

from collections.abc import Set
from functools import partial
from time import monotonic
from typing import Final

from anyio import to_thread
from fastapi import Request

from api.access import rights_needed
from api.access.cookies import SESSION, secret_in
from api.composition import Admin
from api.deps import caller_of
from relay.errors import RelayError, StoreUnreachable
from relay.model.accounts import Right

SILENCE_SECONDS: Final = 15.0
"""After this many seconds without an event a comment is sent, so that proxies keep the
connection.
"""
_STREAM_SECONDS: Final = 300.0
"""A stream ends after this many seconds, and the receiver connects again."""
_RIGHTS_SECONDS: Final = 2.0
"""The rights are checked again so often: a revoked session or token ends the stream."""


class Follower:
    """One open stream to a client. It begins when the client was admitted."""

    def __init__(self, request: Request, admin: Admin, more: Set[Right] = frozenset()) -> None:
        """`more`: rights that the stream had at its beginning, besides those that its endpoint
        needs.
        """
        needed = rights_needed(request.method, request.scope["route"].path)
        named = caller_of(request)
        self._watch = admin.watch
        self._admit = partial(
            admin.access.gate.admit,
            request.headers.get("authorization"),
            needed | more,
            secret_in(request, SESSION),
            named if named.by_header else None,
        )
        self._began_s = self._checked_s = monotonic()

    async def may_go_on(self) -> bool:
        """Return whether the stream may continue.

        The stream must end after its largest duration, when the admin stops, and when the client
        loses a right. The rights are read again at intervals.
        """
        now_s = monotonic()
        if self._watch.ended or now_s - self._began_s >= _STREAM_SECONDS:
            return False
        if now_s - self._checked_s < _RIGHTS_SECONDS:
            return True
        self._checked_s = now_s
        return await self._is_admitted()

    async def _is_admitted(self) -> bool:
        """Return whether the receiver still has the rights.

        While ZooKeeper is unavailable no right can be removed, and the stream continues.
        """
        try:
            await to_thread.run_sync(self._admit)
        except StoreUnreachable:
            return True
        except RelayError:
            return False
        return True

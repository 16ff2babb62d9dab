"""Adds entity tags to answers that have none, and answers 304 if the client already has the same
body.
"""

from hashlib import sha256
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BELOW: Final = "/api/v1/"
_CHARACTERS: Final = 32
_JSON: Final = "application/json"


class EntityTags:
    """ASGI middleware: adds a weak ETag to JSON answers of the REST service that have none.

    A client that sends the same ETag in If-None-Match gets 304 without a body. Streams pass
    unchanged.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the tag to a successful GET, and answer 304 if If-None-Match names it."""
        if scope["type"] != "http" or scope["method"] != "GET" or _BELOW not in scope["path"]:
            await self._app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match", "")
        await self._app(scope, receive, _Tagging(send, known))


class _Tagging:
    """Sends an answer; holds its start back until the body is there."""

    def __init__(self, send: Send, known: str) -> None:
        self._send = send
        self._known = known
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _may_be_tagged(message):
            self._start = message
            return
        start, self._start = self._start, None
        if start is None:
            await self._send(message)
            return
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            start, message = _tagged(start, message, self._known)
        await self._send(start)
        await self._send(message)


def _may_be_tagged(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    whole = start["status"] == HTTPStatus.OK and headers.get("content-type", "") == _JSON
    return whole and "etag" not in headers


def _tagged(start: Message, body: Message, known: str) -> tuple[Message, Message]:
    headers = MutableHeaders(raw=list(start["headers"]))
    tag = f'W/"{sha256(body["body"]).hexdigest()[:_CHARACTERS]}"'
    headers["etag"] = tag
    if not _names(known, tag):
        return {**start, "headers": headers.raw}, body
    for each in ("content-length", "content-type"):
        del headers[each]
    status = {"status": int(HTTPStatus.NOT_MODIFIED), "headers": headers.raw}
    return {**start, **status}, {**body, "body": b""}


def _names(known: str, tag: str) -> bool:
    """Return whether If-None-Match names a tag, by the weak comparison (RFC 9110, 13.1.2)."""
    tags = {each.strip().removeprefix("W/") for each in known.split(",")}
    return tag.removeprefix("W/") in tags

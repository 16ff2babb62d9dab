"""Checks a request before its body is read: host, the caller's rights, size and time."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import structlog
from anyio import to_thread
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import ANONYMOUS, Caller, rights_needed
from api.access.cookies import SESSION, form_token, secret_in
from api.access.cross_site import check_forgery, check_sender
from api.access.trusted_header import TrustedHeader
from api.error_answers import answer_to
from api.error_status import status_of
from api.errors import BadRequest, BodyTooLarge, BodyTooSlow, MethodUnknown, allowed
from api.middleware.hosts import AllowedHosts
from api.middleware.real_peer import peer_of
from api.middleware.request_body import (
    BODY_LIMIT_BYTES,
    LOGIN_BODY_LIMIT_BYTES,
    OPEN_BODY_LIMIT_BYTES,
    check_keys,
)
from relay.audit import PAGE, REST, acting_via
from relay.errors import RelayError
from relay.model.accounts import Right

BODY_SECONDS: Final = 30.0
"""Seconds from the head of a request until its whole body must have arrived."""
LINGER_SECONDS: Final = 2.0
"""After a refusal, the rest of the request's body is read and discarded for at most this many
seconds.
"""
LINGER_BYTES: Final = 32_000_000
"""After a refusal, at most this many bytes of the request's body are read and discarded."""
_INTERFACE: Final = "/api/"
_JSON: Final = (b"content-type", b"application/json")
"""Every body below /api/ is JSON, whatever type a client states: `curl -d` alone states a form."""
_LOGGED: Final = frozenset(
    {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST}
)
_PATH_CHARACTERS: Final = 200
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})

_log = structlog.stdlib.get_logger(__name__)


class Guard:
    """ASGI middleware: refuses invalid requests with an error code, and passes a complete body of
    bounded size to the endpoint.

    The constructor raises KeyError if the table of rights does not contain one of the routes, and
    TypeError for a route whose endpoints it cannot list.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute], hosts: AllowedHosts) -> None:
        self._app = app
        self._hosts = hosts
        self._routes = [route for route in routes if isinstance(route, APIRoute)]
        if len(self._routes) < len(routes):
            raise TypeError("A router inside another one hides its endpoints from the guard.")
        for route in self._routes:
            for method in route.methods or ():
                rights_needed(method, route.path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an admitted request on with its whole body, and answer every other one."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with acting_via(REST if scope["path"].startswith(_INTERFACE) else PAGE):
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Do what a call of the guard does for a request; a refusal may be noted as an act."""
        route = self._route(scope)
        try:
            self._hosts.check(Request(scope).headers.get("host"))
            named = _named(Request(scope))
            if route is None and scope["method"] == "OPTIONS" and (methods := self._methods(scope)):
                await Response(
                    status_code=HTTPStatus.NO_CONTENT, headers={"Allow": allowed(methods)}
                )(scope, receive, send)
                return
            whole = await self._admitted(scope, receive, route, named)
        except RelayError as error:
            scope["route"] = route
            _log_refusal(error, scope)
            await _refusal(error, scope, receive, send)
            return
        await self._app(scope, whole, send)

    def _route(self, scope: Scope) -> APIRoute | None:
        return next(
            (route for route in self._routes if route.matches(scope)[0] is Match.FULL), None
        )

    async def _admitted(
        self, scope: Scope, receive: Receive, route: APIRoute | None, named: Caller | None
    ) -> Receive:
        if route is None:  # then nothing reads the body
            if methods := self._methods(scope):
                raise MethodUnknown(
                    f"The URL does not accept the method {scope['method']}.", methods
                )
            return receive
        request, needed = Request(scope), rights_needed(scope["method"], route.path)
        caller = await _caller(request, needed, named)
        scope.setdefault("state", {}).update(caller=caller, csrf=_form_token(caller))
        limit = _body_limit(needed)
        announced = request.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > limit:
            raise _too_large(limit)
        if scope["method"] in _WITHOUT_BODY:
            check_forgery(request, caller, b"")
            return receive
        if not needed:  # signing in: there is no session yet whose token could be checked
            check_sender(request)
        message = await _whole(receive, limit)
        check_forgery(request, caller, message.get("body", b""))
        if scope["path"].startswith(_INTERFACE):
            if route.body_field is not None:  # other endpoints read the body themselves
                check_keys(message.get("body", b""))
            scope["headers"] = [
                *((name, value) for name, value in scope["headers"] if name != b"content-type"),
                _JSON,
            ]
        return _again(message, receive)

    def _methods(self, scope: Scope) -> set[str]:
        """Return all methods of an address that does not take this one; it may be several
        routes.
        """
        return {
            method
            for route in self._routes
            if route.matches(scope)[0] is Match.PARTIAL
            for method in route.methods or ()
        }


def _named(request: Request) -> Caller | None:
    """Return the user whom the proxy names, also where no right is needed.

    Raises HeaderRefused, HeaderUserRefused.
    """
    header: TrustedHeader | None = request.app.state.admin.access.trusted_header
    return None if header is None else header.caller(request.headers, peer_of(request))


async def _caller(request: Request, needed: frozenset[Right], named: Caller | None) -> Caller:
    """Return the caller; ZooKeeper is read in a thread.

    Raises ApiError and the errors of reading the users.
    """
    if not needed:
        return ANONYMOUS
    sent = request.headers.getlist("authorization")
    if len(sent) > 1:  # a proxy before the admin may have checked another one
        raise BadRequest(
            "The request has the header Authorization twice.", remedy="Send one token."
        )
    caller: Caller = await to_thread.run_sync(
        request.app.state.admin.access.gate.admit,
        sent[0] if sent else None,
        needed,
        secret_in(request, SESSION),
        named,
    )
    return caller


def _form_token(caller: Caller) -> str:
    return "" if caller.session is None else form_token(caller.session.secret)


def _body_limit(needed: frozenset[Right]) -> int:
    if not needed:
        return LOGIN_BODY_LIMIT_BYTES
    return OPEN_BODY_LIMIT_BYTES if needed <= ANONYMOUS.rights else BODY_LIMIT_BYTES


async def _whole(receive: Receive, limit: int) -> Message:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _read(receive, limit)
    except TimeoutError as exc:
        raise BodyTooSlow(
            f"The body of the request was not complete after {BODY_SECONDS:.0f} s."
        ) from exc


async def _read(receive: Receive, limit: int) -> Message:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return message
        body += message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return {"type": "http.request", "body": bytes(body), "more_body": False}


def _again(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that gives the message first."""
    left = [first]

    async def next_message() -> Message:
        return left.pop() if left else await receive()

    return next_message


def _log_refusal(error: RelayError, scope: Scope) -> None:
    if status_of(error) in _LOGGED:
        client = (scope.get("client") or ("",))[0]
        _log.warning(
            "request_refused",
            code=error.code,
            client=client,
            method=scope["method"],
            path=scope["path"][:_PATH_CHARACTERS],
        )


async def _refusal(error: RelayError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer, discard the rest of the body for a moment, and close: a client that still sends would
    lose the answer to a reset.
    """
    response = answer_to(error, Request(scope))
    response.headers["Connection"] = "close"
    sends = (
        "expect" not in Request(scope).headers
    )  # a client that waits for 100 Continue sends no body after this answer

    async def lingering(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "more_body": True})
        if sends:
            await _discard(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    await response(scope, receive, lingering)


async def _discard(receive: Receive) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            left = LINGER_BYTES
            while left > 0:
                message = await receive()
                left = (
                    left - len(message.get("body", b"")) if message.get("more_body", False) else 0
                )


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body of the request is larger than {limit} bytes.")

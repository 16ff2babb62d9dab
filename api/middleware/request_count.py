"""Counts answers by method, route and status, for the metrics."""

from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relay.telemetry.metrics import ADMIN_REQUESTS


class RequestCount:
    """ASGI middleware: counts answers by method, route and status.

    It must be outside of `Guard`, so that refused requests are counted too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the answer by its route's path, as status 500 after an exception."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            path = getattr(scope.get("route"), "path", "none")
            ADMIN_REQUESTS.labels(scope["method"], path, str(status)).inc()

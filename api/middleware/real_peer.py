"""Records the address of a connection before the address in a proxy's headers replaces it."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

_KEY = "peer"


class RealPeer:
    """ASGI middleware: records the sender's address. It must be the outermost middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note the address, and pass the request on."""
        if scope["type"] == "http":
            client = scope.get("client")
            scope.setdefault("state", {})[_KEY] = client[0] if client else ""
        await self._app(scope, receive, send)


def peer_of(request: Request) -> str:
    """Return the IP address at the other end of the connection; empty if the server does not know
    it.
    """
    found: str = getattr(request.state, _KEY, "")
    return found

"""The cookies of the admin: the session's, and the one of the form for signing in."""

import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest, digest
from secrets import token_urlsafe
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

SESSION: Final = "roma_session"
LOGIN: Final = "roma_login"
"""Held by a browser that was shown the form for signing in."""
OIDC: Final = "roma_oidc"
"""Held by a browser that was led to the provider."""
LOGIN_SECONDS: Final = 43_200
"""The form for signing in is valid for this many seconds."""
_SECURE: Final = "__Host-"
"""A browser takes a cookie of this name only by TLS, from this very host, for all paths."""
_RANDOM_BYTES: Final = 32
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def new_secret() -> str:
    """Return 256 random bits as 43 characters."""
    return token_urlsafe(_RANDOM_BYTES)


def id_of(secret: str) -> str:
    """Return the id that the installation stores instead of a session's secret."""
    return sha256(secret.encode()).hexdigest()


def form_token(secret: str) -> str:
    """Return the value that forms carry: it proves the cookie's secret without telling it."""
    made = digest(secret.encode(), b"form", "sha256")
    return urlsafe_b64encode(made).decode().rstrip("=")


def is_form_token(sent: str, secret: str) -> bool:
    """Return whether a form carried the token of this secret; compared in constant time."""
    wanted = form_token(secret).encode()
    return bool(secret) and compare_digest(sent.encode("utf-8", "surrogateescape"), wanted)


def is_secure(request: Request) -> bool:
    """Return whether the browser uses TLS, to the admin or to a trusted proxy."""
    return request.url.scheme == "https"


def secret_in(request: Request, name: str) -> str:
    """Return the secret of a cookie; empty if there is none of the right form.

    Over TLS only a cookie is accepted that no other host and no plain connection can have set.
    """
    value = request.cookies.get(f"{_SECURE}{name}" if is_secure(request) else name, "")
    return value if _SECRET.fullmatch(value) else ""


def set_cookie(response: Response, request: Request, name: str, secret: str, seconds: int) -> None:
    """Give the browser a cookie that scripts and other sites' forms cannot use."""
    secure = is_secure(request)
    response.set_cookie(
        f"{_SECURE}{name}" if secure else name,
        secret,
        max_age=seconds,
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict" if name == LOGIN else "lax",
    )


def delete_cookie(response: Response, request: Request, name: str) -> None:
    """Let the browser remove a cookie."""
    set_cookie(response, request, name, "", 0)

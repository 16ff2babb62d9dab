"""The cookies of the admin: one for the session, and one for the form for signing in."""

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
"""Name of the cookie that the admin sets when it shows the form for signing in."""
OIDC: Final = "roma_oidc"
"""Name of the cookie that the admin sets when it redirects a browser to the OpenID provider."""
LOGIN_SECONDS: Final = 43_200
"""The form for signing in is valid for this many seconds."""
_SECURE: Final = "__Host-"
"""A browser takes a cookie of this name only by TLS, from this very host, for all paths."""
_RANDOM_BYTES: Final = 32
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def new_secret() -> str:
    """Return 256 random bits as 43 characters of URL-safe base64."""
    return token_urlsafe(_RANDOM_BYTES)


def id_of(secret: str) -> str:
    """Return the SHA-256 digest of a session's secret in hexadecimal.

    The installation stores this id, and never the secret.
    """
    return sha256(secret.encode()).hexdigest()


def form_token(secret: str) -> str:
    """Return the value of the hidden field that protects a form against cross-site requests.

    The value is an HMAC of the cookie's secret: it proves that the page knew the secret, and does
    not reveal the secret.
    """
    made = digest(secret.encode(), b"form", "sha256")
    return urlsafe_b64encode(made).decode().rstrip("=")


def is_form_token(sent: str, secret: str) -> bool:
    """Return whether `sent`, the hidden field of a form, is the value of `form_token` for this
    secret.

    The comparison takes the same time for every wrong value.
    """
    wanted = form_token(secret).encode()
    return bool(secret) and compare_digest(sent.encode("utf-8", "surrogateescape"), wanted)


def is_secure(request: Request) -> bool:
    """Return whether the browser's connection uses TLS, either to the admin or to a trusted
    proxy.
    """
    return request.url.scheme == "https"


def secret_in(request: Request, name: str) -> str:
    """Return the secret in the cookie of this name; empty if the request has no well-formed one.

    Over TLS only the cookie with the prefix `__Host-` is accepted: another host or a plain
    connection cannot set it.
    """
    value = request.cookies.get(f"{_SECURE}{name}" if is_secure(request) else name, "")
    return value if _SECRET.fullmatch(value) else ""


def set_cookie(response: Response, request: Request, name: str, secret: str, seconds: int) -> None:
    """Set a cookie that scripts cannot read and that forms of other sites do not send.

    `seconds` is the cookie's lifetime.
    """
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
    """Order the browser to delete the cookie of this name."""
    set_cookie(response, request, name, "", 0)

"""Refuses requests that another site's page made the browser send (CSRF)."""

from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request

from api.access.caller import Caller
from api.access.cookies import is_form_token
from api.errors import ForgeryRefused

HEADER: Final = "x-csrf-token"
FIELD: Final = "csrf"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES: Final = frozenset({"same-origin", "none"})
_FORM: Final = "application/x-www-form-urlencoded"


def check_sender(request: Request) -> None:
    """Raise ForgeryRefused if the browser reports that a page of another site sent the request.

    The headers `Sec-Fetch-Site` and `Origin` report that. A request without either header passes.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        own = site in _OWN_SITES
    else:
        own = origin is None or _host_of(origin) == request.headers.get("host", "").lower()
    if not own:
        raise ForgeryRefused("A page of another site sent this request.")


def check_forgery(request: Request, caller: Caller, body: bytes) -> None:
    """Raise ForgeryRefused if another site's page may have made the browser send this request.

    Only requests that change something are checked, and of these only requests with a session's
    cookie and requests of a user whom a proxy names. Other requests pass, because a site cannot
    make a browser send a token in the header Authorization.
    """
    if request.method in _SAFE:
        return
    if caller.by_header:
        _check_own_page(request)
        return
    if caller.session is None:
        return
    check_sender(request)
    sent = request.headers.get(HEADER) or _field(request, body)
    if not is_form_token(sent, caller.session.secret):
        raise ForgeryRefused(
            f"The request has {'a wrong' if sent else 'no'} CSRF token for its session."
        )


def _check_own_page(request: Request) -> None:
    """Check a request whose user the proxy names: the browser adds the proof of the user
    automatically, and no session has a token for the form. A browser names the page that sent a
    changing request. A program does not, and sends the header X-CSRF-Token with any value: a page
    of another site cannot set it.

    Raises ForgeryRefused.
    """
    check_sender(request)
    if not any(name in request.headers for name in ("sec-fetch-site", "origin", HEADER)):
        raise ForgeryRefused(
            "The request does not tell which page sent it: the headers Origin and "
            "Sec-Fetch-Site are missing."
        )


def _field(request: Request, body: bytes) -> str:
    if not request.headers.get("content-type", "").lower().startswith(_FORM):
        return ""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=200)
    except ValueError:  # the endpoint reports what is wrong with the form
        return ""
    return fields.get(FIELD, [""])[-1]


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None

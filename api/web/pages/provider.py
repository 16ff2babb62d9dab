"""Sign-in by an OpenID provider: the redirect to the provider, and the return from it."""

from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from api.access.cookies import OIDC, SESSION, delete_cookie, secret_in, set_cookie
from api.access.provider import ProviderDesk
from api.access.provider.attempt import VALID_SECONDS
from api.access.provider.desk import Answer
from api.composition import Admin
from api.deps import AdminDep
from api.error_status import problem_of
from api.errors import LoginPaused, NoSuchThing
from api.routers.session import client_of
from api.web.local_address import local_address
from api.web.rendering import render
from relay.errors import RelayError

router: Final = APIRouter(include_in_schema=False)
_MOST_CHARACTERS: Final = 500
"""A longer return address is omitted, because it is part of the provider's URL."""
_UP: Final = "../"
"""The callback is two levels below the first page."""


def _desk(admin: AdminDep) -> ProviderDesk:
    if admin.access.provider is None:
        raise NoSuchThing(
            "This admin has no OpenID provider for signing in (api.oidc is not set).",
            remedy="Sign in at /login with a password or token, or configure api.oidc.",
        )
    return admin.access.provider


DeskDep = Annotated[ProviderDesk, Depends(_desk)]


@router.get("/login/oidc")
async def begin(request: Request, desk: DeskDep, next: str = "/") -> Response:  # noqa: A002
    """Redirect the browser to the OpenID provider. `next` is the page to go to after the
    sign-in.
    """
    following = next if len(next) <= _MOST_CHARACTERS else "/"
    try:
        attempt, address = await desk.begin(following, client_of(request))
    except RelayError as error:
        return _refused(request, error)
    answer = RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER)
    answer.headers["Cache-Control"] = "no-store"
    set_cookie(answer, request, OIDC, attempt.secret, VALID_SECONDS)
    return answer


@router.get("/login/oidc/callback")
async def finish(
    request: Request,
    admin: AdminDep,
    desk: DeskDep,
    state: str = "",
    code: str = "",
    error: str = "",
    iss: Annotated[str, Query(description="RFC 9207")] = "",
) -> Response:
    """Open a session after the provider's redirect, and redirect to the page that the user came
    from.
    """
    try:
        finished = await desk.finish(
            Answer(state, code, error, iss),
            secret_in(request, OIDC),
            secret_in(request, SESSION),
            client_of(request),
            cross_site=request.headers.get("sec-fetch-site") in ("cross-site", "same-site"),
        )
    except RelayError as refused:
        page = _refused(request, refused)
        delete_cookie(page, request, OIDC)
        return page
    path = local_address(finished.following).removeprefix("./")
    if finished.is_renamed:
        path = "users?done=renamed"
    answer = RedirectResponse(f"{_UP * 2}{path}", status_code=HTTPStatus.SEE_OTHER)
    answer.headers["Cache-Control"] = "no-store"
    session = finished.signed_in.session
    set_cookie(answer, request, SESSION, session.secret, admin.settings.api.session_seconds)
    delete_cookie(answer, request, OIDC)
    return answer


def way_in(admin: Admin) -> dict[str, str] | None:
    """Return the texts of the provider for the sign-in form; None without an OpenID provider.

    `title` is the name of the provider, `sign_out` its URL for signing out.
    """
    desk = admin.access.provider
    return None if desk is None else {"title": desk.title, "sign_out": desk.logout_address()}


def _refused(request: Request, error: RelayError) -> HTMLResponse:
    problem = problem_of(error)
    values: dict[str, object] = {"title": "Not signed in", "problem": problem}
    status = HTTPStatus(problem.status)
    page = render(request, "not_signed_in.html", values, section="", status=status)
    if isinstance(error, LoginPaused):
        page.headers["Retry-After"] = str(error.seconds)
    return page

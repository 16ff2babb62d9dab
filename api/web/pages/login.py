"""The pages for signing in and out, and for the first administrator."""

from http import HTTPStatus
from typing import Final

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from api.access.cookies import (
    LOGIN,
    LOGIN_SECONDS,
    SESSION,
    delete_cookie,
    form_token,
    is_form_token,
    new_secret,
    secret_in,
    set_cookie,
)
from api.composition import Admin
from api.deps import AdminDep, CallerDep
from api.error_status import problem_of
from api.errors import BadRequest, ForgeryRefused, LoginPaused, LoginRefused
from api.routers.session import client_of
from api.web.forms import FormDep
from api.web.local_address import local_address
from api.web.pages.provider import way_in
from api.web.rendering import render
from relay.errors import RelayError

router: Final = APIRouter(include_in_schema=False)


@router.get("/login")
async def show_form(
    request: Request,
    admin: AdminDep,
    next: str = "/",  # noqa: A002
    signed_out: bool = False,
) -> HTMLResponse:
    """Show the form for signing in. `next` is the page to go to afterwards."""
    return await _form(request, admin, next, signed_out=signed_out)


@router.post("/login")
async def sign_in(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Open a session, and redirect to the page that the user came from."""
    if not is_form_token(form["csrf"], secret_in(request, LOGIN)):
        too_old = "This form was open too long, or the browser keeps no cookies. Sign in again."
        return await _form(
            request, admin, form["next"], form["name"], (too_old, ForgeryRefused.status)
        )
    try:
        signed_in = await admin.access.login.sign_in(
            form["name"], form["password"], client_of(request), secret_in(request, SESSION)
        )
    except (LoginRefused, LoginPaused) as error:
        refused = (error.reason, error.status)
        page = await _form(request, admin, form["next"], form["name"], refused)
        if isinstance(error, LoginPaused):
            page.headers["Retry-After"] = str(error.seconds)
        return page
    answer = RedirectResponse(local_address(form["next"]), status_code=HTTPStatus.SEE_OTHER)
    seconds = admin.settings.api.session_seconds
    set_cookie(answer, request, SESSION, signed_in.session.secret, seconds)
    delete_cookie(answer, request, LOGIN)
    return answer


@router.post("/logout")
async def sign_out(request: Request, admin: AdminDep, caller: CallerDep) -> Response:
    """End the session of this browser."""
    await to_thread.run_sync(admin.access.login.sign_out, caller)
    by_provider = caller.session is not None and caller.session.by_provider
    login = "login?signed_out=1" if by_provider else "login"
    answer = RedirectResponse(login, status_code=HTTPStatus.SEE_OTHER)
    delete_cookie(answer, request, SESSION)
    return answer


@router.get("/first-admin")
def show_first_admin(request: Request, admin: AdminDep, code: str = "") -> HTMLResponse:
    """Show the form for the first administrator to a caller who has the link from the terminal."""
    admin.access.first_admin.check(code)
    return _first_admin(request, code)


@router.post("/first-admin")
async def make_first_admin(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Add the first administrator, open a session, and make the link invalid."""
    admin.access.first_admin.check(form["code"])
    try:
        if not is_form_token(form["csrf"], secret_in(request, LOGIN)):
            raise ForgeryRefused("This form was open too long, or the browser keeps no cookies.")
        if form["password"] != form["again"]:
            raise BadRequest(
                "The password and its repetition differ.",
                remedy="Type the same password twice.",
            )
        signed_in = await admin.access.accounts.make_first_admin(
            form["name"], form["password"], client_of(request)
        )
    except RelayError as error:
        return _first_admin(request, form["code"], form["name"], error)
    admin.access.first_admin.close()
    answer = RedirectResponse("./", status_code=HTTPStatus.SEE_OTHER)
    seconds = admin.settings.api.session_seconds
    set_cookie(answer, request, SESSION, signed_in.session.secret, seconds)
    return answer


async def _form(
    request: Request,
    admin: Admin,
    following: str,
    name: str = "",
    refused: tuple[str, HTTPStatus] = ("", HTTPStatus.OK),
    *,
    signed_out: bool = False,
) -> HTMLResponse:
    """Return the form; `refused` is the reason of the last failure, with its status."""
    error, status = refused
    secret = secret_in(request, LOGIN) or new_secret()
    values: dict[str, object] = {
        "title": "Sign in",
        "next": following,
        "csrf": form_token(secret),
        "name": name,
        "error": error,
        "provider": way_in(admin),
        "signed_out": signed_out,
        "reads_openly": await to_thread.run_sync(admin.access.gate.reads_openly),
    }
    page = render(request, "login.html", values, section="", status=status)
    set_cookie(page, request, LOGIN, secret, LOGIN_SECONDS)
    return page


def _first_admin(
    request: Request, code: str, name: str = "", error: RelayError | None = None
) -> HTMLResponse:
    secret = secret_in(request, LOGIN) or new_secret()
    problem = None if error is None else problem_of(error)
    values: dict[str, object] = {
        "title": "First administrator",
        "code": code,
        "csrf": form_token(secret),
        "name": name,
        "error": "" if problem is None else problem.detail,
    }
    status = HTTPStatus.OK if problem is None else HTTPStatus(problem.status)
    page = render(request, "first_admin.html", values, section="", status=status)
    set_cookie(page, request, LOGIN, secret, LOGIN_SECONDS)
    return page

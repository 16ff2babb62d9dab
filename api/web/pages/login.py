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
from api.deps import AdminDep, CallerDep
from api.error_status import problem_of
from api.errors import BadRequest, ForgeryRefused, LoginPaused, LoginRefused
from api.routers.session import client_of
from api.web.forms import FormDep
from api.web.local_address import local_address
from api.web.rendering import render
from relay.errors import RelayError

router: Final = APIRouter(include_in_schema=False)


@router.get("/login")
def show_form(request: Request, next: str = "/") -> HTMLResponse:  # noqa: A002
    """Show the form. `next` is the page to go to afterwards."""
    return _form(request, next)


@router.post("/login")
async def sign_in(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Sign in, then lead to the page that the user came from."""
    if not is_form_token(form["csrf"], secret_in(request, LOGIN)):
        too_old = "This form was open too long, or the browser keeps no cookies. Sign in again."
        return _form(request, form["next"], form["name"], too_old, ForgeryRefused.status)
    try:
        signed_in = await admin.login.sign_in(
            form["name"], form["password"], client_of(request), secret_in(request, SESSION)
        )
    except (LoginRefused, LoginPaused) as error:
        page = _form(request, form["next"], form["name"], error.reason, error.status)
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
    await to_thread.run_sync(admin.login.sign_out, caller)
    answer = RedirectResponse("login", status_code=HTTPStatus.SEE_OTHER)
    delete_cookie(answer, request, SESSION)
    return answer


@router.get("/first-admin")
def show_first_admin(request: Request, admin: AdminDep, code: str = "") -> HTMLResponse:
    """Show the form to the one who has the link of the terminal."""
    admin.first_admin.check(code)
    return _first_admin(request, code)


@router.post("/first-admin")
async def make_first_admin(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Add the administrator, sign it in, and end the link."""
    admin.first_admin.check(form["code"])
    try:
        if not is_form_token(form["csrf"], secret_in(request, LOGIN)):
            raise ForgeryRefused("This form was open too long, or the browser keeps no cookies.")
        if form["password"] != form["again"]:
            raise BadRequest("The password and its repetition differ.")
        signed_in = await admin.accounts.make_first_admin(
            form["name"], form["password"], client_of(request)
        )
    except RelayError as error:
        return _first_admin(request, form["code"], form["name"], error)
    admin.first_admin.close()
    answer = RedirectResponse("./", status_code=HTTPStatus.SEE_OTHER)
    seconds = admin.settings.api.session_seconds
    set_cookie(answer, request, SESSION, signed_in.session.secret, seconds)
    return answer


def _form(
    request: Request,
    following: str,
    name: str = "",
    error: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> HTMLResponse:
    secret = secret_in(request, LOGIN) or new_secret()
    values: dict[str, object] = {
        "title": "Sign in",
        "next": following,
        "csrf": form_token(secret),
        "name": name,
        "error": error,
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

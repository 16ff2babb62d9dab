"""The pages for signing in and out."""

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
from api.errors import ForgeryRefused, LoginPaused, LoginRefused
from api.routers.session import client_of
from api.web.forms import FormDep
from api.web.local_address import local_address
from api.web.rendering import render

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

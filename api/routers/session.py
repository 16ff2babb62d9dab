"""Endpoints to sign in and out."""

from http import HTTPStatus

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from api.access import Caller
from api.access.cookies import SESSION, delete_cookie, secret_in, set_cookie
from api.deps import AdminDep, CallerDep
from api.models.account import PasswordRequest
from api.models.session import SessionView, SignIn

router = APIRouter(prefix="/api/v1/session", tags=["session"])


@router.post("", summary="Sign in with name and password")
async def sign_in(
    request: Request, response: Response, admin: AdminDep, sent: SignIn
) -> SessionView:
    """Sign in, and set the cookie of a new session. The browser's former session ends."""
    signed_in = await admin.access.login.sign_in(
        sent.name, sent.password, client_of(request), secret_in(request, SESSION)
    )
    session, user = signed_in.session, signed_in.user
    set_cookie(response, request, SESSION, session.secret, admin.settings.api.session_seconds)
    response.headers["Cache-Control"] = "no-store"
    return SessionView.of(Caller(user.name, user.grant.rights, True, session))


@router.get("", summary="Who sends this request")
def show_session(response: Response, caller: CallerDep) -> SessionView:
    """Return the caller's name, rights and CSRF token."""
    response.headers["Cache-Control"] = "no-store"
    return SessionView.of(caller)


@router.delete("", status_code=HTTPStatus.NO_CONTENT, summary="Sign out")
async def sign_out(
    request: Request,
    response: Response,
    admin: AdminDep,
    caller: CallerDep,
    everywhere: bool = False,
) -> None:
    """End the session of this request at every admin, or with `everywhere` all sessions of its
    user.
    """
    if everywhere:
        await admin.access.accounts.end_own_sessions(caller)
    await to_thread.run_sync(admin.access.login.sign_out, caller)
    delete_cookie(response, request, SESSION)


@router.put("/password", summary="Change one's own password")
async def change_password(
    request: Request,
    response: Response,
    admin: AdminDep,
    caller: CallerDep,
    sent: PasswordRequest,
) -> SessionView:
    """Change the caller's password. All sessions of the caller end; the answer sets a new one."""
    signed_in = await admin.access.accounts.change_own_password(
        caller,
        sent.present.get_secret_value(),
        sent.wanted.get_secret_value(),
        client_of(request),
    )
    session, user = signed_in.session, signed_in.user
    set_cookie(response, request, SESSION, session.secret, admin.settings.api.session_seconds)
    response.headers["Cache-Control"] = "no-store"
    return SessionView.of(Caller(user.name, user.grant.rights, True, session))


def client_of(request: Request) -> str:
    """Return the IP address of the client, as the connection or a trusted proxy reports it."""
    return "" if request.client is None else request.client.host

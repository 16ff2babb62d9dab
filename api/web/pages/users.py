"""The page of users, tokens and the caller's own account."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from time import time
from typing import Final

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from api.access import Caller
from api.access.cookies import SESSION, delete_cookie, set_cookie
from api.composition import Admin
from api.deps import AdminDep, CallerDep
from api.entity_tag import Precondition, TagList
from api.error_status import problem_of
from api.errors import BadRequest
from api.routers.session import client_of
from api.services.accounts import AccountList
from api.web.acts import who_from
from api.web.forms import Form, FormDep
from api.web.rendering import render
from api.web.views.users import DAYS, ROLE_SENTENCES, matrix, sign_in_ways, token_rows
from relay.errors import RelayError
from relay.model.accounts import Grant, Right, Role
from relay.operations import NewToken, UserChange

router: Final = APIRouter(include_in_schema=False)


@router.get("/users")
def show_users(
    request: Request, caller: CallerDep, edit: str = "", revoke: str = ""
) -> HTMLResponse:
    """Show users, tokens, and the caller's own account."""
    return _page(request, caller, _Shown(edit=edit, revoke=revoke))


@router.post("/users")
def save_user(request: Request, admin: AdminDep, caller: CallerDep, form: FormDep) -> Response:
    """Add or change a user."""
    is_new = not form["state"]

    def act() -> None:
        known = (
            Precondition(if_none_match=TagList(frozenset(), any=True))
            if is_new
            else Precondition.of_state(form["state"])
        )
        wanted = UserChange(_grant(form), form.checked("disabled"), form["password"])
        admin.access.accounts.save_user(
            form["name"], wanted, known, caller, who_from(request, form)
        )

    again = _Shown(
        open="new-user" if is_new else "", edit="" if is_new else form["name"], typed=form
    )
    done = "user-added" if is_new else "user-changed"
    return _done_or_again(request, caller, act, f"users?done={done}", again)


@router.post("/users/tokens")
def add_token(request: Request, admin: AdminDep, caller: CallerDep, form: FormDep) -> Response:
    """Create a token, and show its secret once."""
    try:
        made = admin.access.accounts.add_token(
            form["name"],
            form["owner"],
            _grant(form),
            form.number("days", "Ends"),
            who_from(request, form),
        )
    except RelayError as error:
        return _page(request, caller, _Shown(error, open="new-token", typed=form))
    return _page(request, caller, _Shown(made=made))


@router.post("/users/tokens/revoke")
def revoke_token(request: Request, admin: AdminDep, caller: CallerDep, form: FormDep) -> Response:
    """Revoke an API token."""
    return _done_or_again(
        request,
        caller,
        lambda: admin.access.accounts.revoke_token(form["name"], who_from(request, form)),
        "../../users?done=token-revoked",
        _Shown(),
    )


@router.post("/users/me/password")
async def change_password(
    request: Request, admin: AdminDep, caller: CallerDep, form: FormDep
) -> Response:
    """Change the caller's own password."""
    try:
        if form["wanted"] != form["again"]:
            raise BadRequest(
                "The new password and its repetition differ.",
                remedy="Type the same new password twice.",
            )
        signed_in = await admin.access.accounts.change_own_password(
            caller, form["present"], form["wanted"], client_of(request)
        )
    except RelayError as error:
        again = _Shown(error, open="own-password")
        return await to_thread.run_sync(_page, request, caller, again)
    answer = _led("../../users?done=password-changed")
    seconds = admin.settings.api.session_seconds
    set_cookie(answer, request, SESSION, signed_in.session.secret, seconds)
    return answer


@router.post("/users/me/sign-out")
async def sign_out_everywhere(request: Request, admin: AdminDep, caller: CallerDep) -> Response:
    """End all sessions of the caller."""
    await admin.access.accounts.end_own_sessions(caller)
    answer = _led("../../login")
    delete_cookie(answer, request, SESSION)
    return answer


def _done_or_again(
    request: Request, caller: Caller, act: Callable[[], None], led: str, again: "_Shown"
) -> Response:
    try:
        act()
    except RelayError as error:
        return _page(request, caller, replace(again, error=error))
    return _led(led)


def _led(address: str) -> RedirectResponse:
    return RedirectResponse(address, status_code=HTTPStatus.SEE_OTHER)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The dialogs of the page.

    edit    user whose dialog is open
    revoke  token whose dialog is open
    open    id of another dialog that is open
    typed   the sent values of the dialog's form
    """

    error: RelayError | None = None
    made: NewToken | None = None
    edit: str = ""
    revoke: str = ""
    open: str = ""
    typed: Form = field(default_factory=lambda: Form({}))


def _page(request: Request, caller: Caller, shown: _Shown) -> HTMLResponse:
    admin: Admin = request.app.state.admin
    may = Right.ADMINISTER in caller.rights
    lists = admin.access.accounts.accounts() if may else AccountList((), (), "")
    problem = None if shown.error is None else problem_of(shown.error)
    values: dict[str, object] = {
        "title": "Users and tokens",
        "users": [(each, sign_in_ways(each)) for each in lists.users],
        "tokens": token_rows(lists.tokens, int(time() * 1000)),
        "state": lists.state,
        "roles": ROLE_SENTENCES,
        "days": DAYS,
        "matrix": matrix(),
        "edited": next((each for each in lists.users if each.name == shown.edit), None),
        "revoked": next((each for each in lists.tokens if each.name == shown.revoke), None),
        "open": shown.open,
        "typed": shown.typed,
        "made": shown.made,
        "problem": problem,
    }
    status = HTTPStatus.OK if problem is None else HTTPStatus(problem.status)
    return render(request, "users/users.html", values, section="users", status=status)


def _grant(form: Form) -> Grant:
    """Return the grant in a form's role and box. Raises BadRequest."""
    try:
        return Grant(Role(form["role"]), form.checked("values"))
    except ValueError as exc:
        raise BadRequest(f"{form['role']!r} is not a role.") from exc

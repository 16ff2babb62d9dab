"""Endpoints for users and tokens, which only administrators may use."""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Response

from api.deps import AdminDep, CallerDep, NoteDep, PreconditionDep
from api.entity_tag import entity_tag
from api.listing import ListingDep
from api.models.account import NewTokenView, TokenRequest, TokenView, UserRequest, UserView
from relay.model.accounts import Grant
from relay.operations import UserChange, Who

router: Final = APIRouter(prefix="/api/v1", tags=["accounts"])


@router.get("/users")
def list_users(admin: AdminDep, response: Response, part: ListingDep) -> list[UserView]:
    """Return all users. The ETag identifies the state of all users and tokens together."""
    found = admin.access.accounts.accounts()
    response.headers["ETag"] = entity_tag(found.state)
    return part.of([UserView.of(user) for user in found.users])


@router.put("/users/{name}", responses={201: {"description": "The user was not there."}})
def save_user(
    admin: AdminDep,
    name: str,
    sent: UserRequest,
    caller: CallerDep,
    precondition: PreconditionDep,
    note: NoteDep,
    response: Response,
) -> UserView:
    """Add a user, or change one (needs If-Match).

    A new password and disabling end the user's sessions immediately.
    """
    password = "" if sent.password is None else sent.password.get_secret_value()
    wanted = UserChange(Grant(sent.role, sent.values), sent.disabled, password)
    who = Who(note.author, note.comment)
    if admin.access.accounts.save_user(name, wanted, precondition, caller, who):
        response.status_code = HTTPStatus.CREATED
    return UserView.of(admin.access.accounts.user(name))


@router.get("/tokens")
def list_tokens(admin: AdminDep, part: ListingDep) -> list[TokenView]:
    """Return all tokens with their last four characters."""
    return part.of([TokenView.of(token) for token in admin.access.accounts.accounts().tokens])


@router.put("/tokens/{name}", status_code=HTTPStatus.CREATED)
def add_token(
    admin: AdminDep, name: str, sent: TokenRequest, note: NoteDep, response: Response
) -> NewTokenView:
    """Create a token and return its secret. Only this answer contains it. A token is never
    changed.
    """
    made = admin.access.accounts.add_token(
        name, sent.owner, sent.grant, sent.days, Who(note.author, note.comment)
    )
    response.headers["Cache-Control"] = "no-store"
    return NewTokenView(**TokenView.of(made.token).model_dump(), token=made.secret)


@router.delete("/tokens/{name}", status_code=HTTPStatus.NO_CONTENT)
def revoke_token(admin: AdminDep, name: str, note: NoteDep) -> None:
    """Remove a token. Every admin refuses it from now on."""
    admin.access.accounts.revoke_token(name, Who(note.author, note.comment))

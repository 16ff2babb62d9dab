"""What addresses ask for: the services, the writer's token, body, note and precondition."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Header, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.auth import check_token
from api.composition import Admin
from api.entity_tag import Precondition, TagList
from api.middleware.request_body import note_of, read_body
from relay.state import Note

_bearer = HTTPBearer(auto_error=False, description="The admin's token (api.token of the configuration file).")


def _admin(request: Request) -> Admin:
    admin: Admin = request.app.state.admin
    return admin


AdminDep: TypeAlias = Annotated[Admin, Depends(_admin)]


def _writer(
    admin: AdminDep,
    _credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    authorization: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> None:
    check_token(authorization, admin.token)


def _precondition(
    if_match: Annotated[str | None, Header(description="The ETag that the edit was made from.", examples=['"12"'])] = None,
    if_none_match: Annotated[str | None, Header(description="`*`: only if it is not there yet.")] = None,
) -> Precondition:
    return Precondition(TagList.read(if_match), TagList.read(if_none_match))


def _note(
    x_author: Annotated[str | None, Header(description="Who saves; UTF-8, percent-encoded outside ASCII.", examples=["ann"])] = None,
    x_comment: Annotated[str | None, Header(description="Why; UTF-8, percent-encoded outside ASCII.", examples=["second shard"])] = None,
) -> Note:
    return note_of(x_author, x_comment)


WriterDep = Depends(_writer)
BodyDep: TypeAlias = Annotated[bytes, Depends(read_body)]
NoteDep: TypeAlias = Annotated[Note, Depends(_note)]
PreconditionDep: TypeAlias = Annotated[Precondition, Depends(_precondition)]

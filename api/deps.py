"""Dependencies available to the endpoints: services, the body, author and comment, and the
precondition.
"""

from dataclasses import replace
from typing import Annotated, TypeAlias

from fastapi import Depends, Header, Request

from api.access import ANONYMOUS, Caller, rights_needed
from api.composition import Admin
from api.entity_tag import Precondition, TagList
from api.middleware.request_body import note_of, read_body
from relay.state import Note


def _admin(request: Request) -> Admin:
    admin: Admin = request.app.state.admin
    return admin


AdminDep: TypeAlias = Annotated[Admin, Depends(_admin)]


def caller_of(request: Request) -> Caller:
    """Return the caller of a request, as `Guard` identified it before the body was read."""
    found: Caller = getattr(request.state, "caller", ANONYMOUS)
    return found


CallerDep: TypeAlias = Annotated[Caller, Depends(caller_of)]


def check_rights(request: Request) -> None:
    """Raise RightMissing unless the caller has the rights of the endpoint that the router selected.

    `Guard` has already checked the rights, for the route that it found itself. This second check
    applies if the two select different routes.
    """
    caller_of(request).check(rights_needed(request.method, request.scope["route"].path))


def _precondition(
    if_match: Annotated[
        str | None,
        Header(
            description="The ETag of the state from which the edit was made.", examples=['"12"']
        ),
    ] = None,
    if_none_match: Annotated[
        str | None, Header(description="`*`: only if the object does not exist yet.")
    ] = None,
) -> Precondition:
    return Precondition(TagList.read(if_match), TagList.read(if_none_match))


def _sent_note(
    request: Request,
    x_author: Annotated[
        str | None,
        Header(
            description="The author, unless a user sends the request. UTF-8, percent-encoded.",
            examples=["ann"],
        ),
    ] = None,
    x_comment: Annotated[
        str | None,
        Header(
            description="The reason. UTF-8, percent-encoded outside ASCII.",
            examples=["second shard"],
        ),
    ] = None,
) -> Note:
    note, caller = note_of(x_author, x_comment), caller_of(request)
    return replace(note, author=caller.name) if caller.is_user else note


SentNoteDep: TypeAlias = Annotated[Note, Depends(_sent_note)]
"""Author, comment and time of an act. The author is the user of the session or token, or the author
that the request names; otherwise the author is empty.
"""


def _note(request: Request, note: SentNoteDep) -> Note:
    return note if note.author else replace(note, author=caller_of(request).name)


BodyDep: TypeAlias = Annotated[bytes, Depends(read_body)]
NoteDep: TypeAlias = Annotated[Note, Depends(_note)]
"""Author, comment and time of an act. The author is the user of the session or token, or the author
that the request names; otherwise the author is the caller's name, which is empty without a token.
"""
PreconditionDep: TypeAlias = Annotated[Precondition, Depends(_precondition)]

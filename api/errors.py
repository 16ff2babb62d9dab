"""Errors at the HTTP border: each domain error's status in one table, every answer
`application/problem+json` (RFC 9457).

ApiError
├── BadRequest              400
├── TokenMissing            401
│   └── TokenWrong          401
├── WritesForbidden         403
├── RightMissing            403
├── NoSuchThing             404
├── MethodUnknown           405
├── BodyTooSlow             408
├── SetInForceBroken        409
├── DefinedInFile           409
├── PreconditionFailed      412
├── BodyTooLarge            413
├── HostUnknown             421
├── InstanceRefused         422
├── ProblemsFound           422   the documents cannot come into force; carries the list
└── PreconditionRequired    428
"""

import json
from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from api.models.problem import MappingProblemView, Problem
from relay.errors import (
    AuditUnreadable,
    ConfigurationError,
    DeadLettersUnreadable,
    DeadLetterUnknown,
    Fenced,
    MappingRefused,
    MessageTooLarge,
    MoveRefused,
    NodeMissing,
    PlacementRefused,
    PositionUnreadable,
    RelayError,
    ReplayRefused,
    SaveTooLarge,
    SourceNotNamed,
    Stop,
    StoreRefused,
    Unreachable,
    VersionConflict,
)
from relay.route import MappingProblem
from relay.settings import UNKNOWN_KEY, unknown_key

PROBLEM_JSON: Final = "application/problem+json"
# A client that comes back after this finds a ZooKeeper that was only restarted.
_RETRY_AFTER_SECONDS: Final = 5
_SUGGESTED: Final = 20
"""So many problems of one request get a suggestion."""


class ApiError(RelayError):
    """Root of what the admin itself refuses."""

    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR


class BadRequest(ApiError):
    """The request cannot be understood."""

    code = "BAD_REQUEST"
    remedy = "Correct the request."
    status = HTTPStatus.BAD_REQUEST


class TokenMissing(ApiError):
    """The endpoint needs a token, and the request has none."""

    code = "TOKEN_MISSING"
    remedy = (
        "Send `Authorization: Bearer <token>` with a token of yours (`roma tokens add`) or the "
        "admin's."
    )
    status = HTTPStatus.UNAUTHORIZED


class TokenWrong(TokenMissing):
    """The token is unknown, has expired or was revoked, or its owner is disabled."""

    code = "TOKEN_WRONG"
    remedy = (
        "Send a token that `roma tokens list` shows, or the value of api.token in the admin's "
        "configuration file "
        "(`${NAME}` there: of that variable or file)."
    )


class WritesForbidden(ApiError):
    """The admin has neither token nor users, so nobody may write."""

    code = "WRITES_FORBIDDEN"
    remedy = (
        "Add a user and a token (`roma users add`, `roma tokens add`), or set api.token and start "
        "the admin again."
    )
    status = HTTPStatus.FORBIDDEN


class RightMissing(ApiError):
    """The caller is known, and may not do this."""

    code = "RIGHT_MISSING"
    remedy = "Send a token that holds the right, or ask an administrator of this installation."
    status = HTTPStatus.FORBIDDEN


class NoSuchThing(ApiError):
    """The address names what is not there."""

    code = "NOT_FOUND"
    remedy = "Check the name."
    status = HTTPStatus.NOT_FOUND


class MethodUnknown(ApiError):
    """The address is there, and does not take this method."""

    code = "METHOD_NOT_ALLOWED"
    remedy = "Use one of the methods of the header Allow; see /docs."
    status = HTTPStatus.METHOD_NOT_ALLOWED

    def __init__(self, reason: str, methods: Collection[str]) -> None:
        super().__init__(reason)
        self.allowed = allowed(methods)


class SetInForceBroken(ApiError):
    """ZooKeeper holds a mapping set that cannot be read; relays keep the last good one."""

    code = "SET_IN_FORCE_BROKEN"
    remedy = (
        "Roll back to a good set (POST /api/v1/mappings/rollback with If-Match: *), or save all "
        "documents at once."
    )
    status = HTTPStatus.CONFLICT


class DefinedInFile(ApiError):
    """An instance of the configuration file cannot be changed here."""

    code = "DEFINED_IN_FILE"
    remedy = "Change the file and restart the relays, or take it out of the file first."
    status = HTTPStatus.CONFLICT


class InstanceRefused(ApiError):
    """The settings of an instance contradict themselves, or have no such field; nothing was
    saved.
    """

    code = "INSTANCE_REFUSED"
    remedy = "Correct the places named."
    status = HTTPStatus.UNPROCESSABLE_ENTITY


class PreconditionFailed(ApiError):
    """If-Match or If-None-Match speaks of another state than the present one."""

    code = "PRECONDITION_FAILED"
    remedy = "Read it again, apply the change to what is there now, and save with its ETag."
    status = HTTPStatus.PRECONDITION_FAILED


class BodyTooLarge(ApiError):
    """The request's body is larger than any save may be."""

    code = "BODY_TOO_LARGE"
    remedy = "Name shards by regular expressions instead of one by one."
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class BodyTooSlow(ApiError):
    """The request's body did not come in time."""

    code = "BODY_TOO_SLOW"
    remedy = "Send the request again, and all of its body at once."
    status = HTTPStatus.REQUEST_TIMEOUT


class HostUnknown(ApiError):
    """The request's Host header names another server than this one."""

    code = "HOST_UNKNOWN"
    remedy = (
        "Use an IP address or localhost, or add the name to api.hosts in the admin's configuration "
        "and restart it."
    )
    status = HTTPStatus.MISDIRECTED_REQUEST


class PreconditionRequired(ApiError):
    """An edit of what is there needs the ETag that it was made from."""

    code = "PRECONDITION_REQUIRED"
    remedy = (
        "Read it first and send its ETag as If-Match, so that nobody's edit is overwritten unseen."
    )
    status = HTTPStatus.PRECONDITION_REQUIRED


class ProblemsFound(ApiError):
    """The documents are broken or contradict each other; nothing was saved."""

    code = "MAPPING_REFUSED"
    remedy = (
        "Correct the places named. Documents that need each other can be saved together (PUT "
        "/api/v1/configs/ROMA_GROUP), "
        "or one after another in the order topics, dbs, tbs, tags."
    )
    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, problems: Sequence[MappingProblem]) -> None:
        count = len(problems)
        super().__init__(
            f"{count} problem{'s' if count > 1 else ''} found; the set in force stays in force."
        )
        self.problems = tuple(problems)


_STATUS: Final[dict[type[RelayError], HTTPStatus]] = {
    AuditUnreadable: HTTPStatus.SERVICE_UNAVAILABLE,
    Unreachable: HTTPStatus.SERVICE_UNAVAILABLE,
    PositionUnreadable: HTTPStatus.SERVICE_UNAVAILABLE,
    MoveRefused: HTTPStatus.CONFLICT,
    SourceNotNamed: HTTPStatus.BAD_REQUEST,
    Fenced: HTTPStatus.CONFLICT,
    ConfigurationError: HTTPStatus.CONFLICT,
    Stop: HTTPStatus.BAD_GATEWAY,
    DeadLettersUnreadable: HTTPStatus.SERVICE_UNAVAILABLE,
    DeadLetterUnknown: HTTPStatus.NOT_FOUND,
    ReplayRefused: HTTPStatus.CONFLICT,
    MessageTooLarge: HTTPStatus.CONFLICT,
    VersionConflict: HTTPStatus.PRECONDITION_FAILED,
    NodeMissing: HTTPStatus.NOT_FOUND,
    MappingRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    SaveTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    PlacementRefused: HTTPStatus.CONFLICT,
    StoreRefused: HTTPStatus.BAD_GATEWAY,
}


def install_error_handlers(app: FastAPI) -> None:
    """Let every error leave as problem+json."""
    app.add_exception_handler(RelayError, _relay_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unforeseen)


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    """Write a problem down."""
    content = problem.model_dump(by_alias=True, exclude_none=True)
    return _ProblemResponse(content, status_code=problem.status, headers=headers)


def allowed(methods: Collection[str]) -> str:
    """Return the value of the header Allow."""
    return ", ".join(sorted({*methods, "OPTIONS"}))


class _ProblemResponse(JSONResponse):
    media_type = PROBLEM_JSON

    def render(self, content: Any) -> bytes:
        """Write the content.

        Half of a surrogate pair, which a request may name, stays the escape that it was.
        """
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "backslashreplace"
        )


def status_of(error: RelayError) -> HTTPStatus:
    """Return the status that an error leaves with; the table's nearest ancestor decides."""
    if isinstance(error, ApiError):
        return error.status
    return next(
        (_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )


async def _relay_error(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RelayError):  # registered for nothing else
        raise error
    return problem_of(error)


def problem_of(error: RelayError) -> JSONResponse:
    """Return the answer to an error."""
    status = status_of(error)
    if isinstance(error, SourceNotNamed):
        error = error.asked_with("`source`")
    headers = (
        {"Retry-After": str(_RETRY_AFTER_SECONDS)}
        if status == HTTPStatus.SERVICE_UNAVAILABLE
        else {}
    )
    if isinstance(error, TokenMissing):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodUnknown):
        headers["Allow"] = error.allowed
    problem = Problem(
        title=status.phrase,
        status=status,
        detail=error.reason,
        code=error.code,
        remedy=error.way_out,
        problems=_problems(error),
    )
    return problem_response(problem, headers)


def _problems(error: RelayError) -> list[MappingProblemView] | None:
    if isinstance(error, ProblemsFound):
        return [MappingProblemView.of(each) for each in error.problems]
    if isinstance(error, MappingRefused):
        return [
            MappingProblemView(data_id=error.data_id, pointer=error.pointer, sentence=error.reason)
        ]
    return None


def _sentence(error: Mapping[str, Any], number: int, request: Request) -> str:
    body = getattr(request.scope.get("route"), "body_field", None)
    place = tuple(error["loc"])
    if (
        error["type"] != UNKNOWN_KEY
        or body is None
        or place[:1] != ("body",)
        or number >= _SUGGESTED
    ):
        return f"{error['msg']}."
    sentence = unknown_key(place[1:], body.field_info.annotation)
    return sentence if sentence.endswith("?") else f"{sentence}."


async def _invalid_request(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):  # registered for nothing else
        raise error
    problems = [
        MappingProblemView(
            data_id="",
            pointer="".join(f"/{part}" for part in each["loc"]),
            sentence=_sentence(each, number, request),
        )
        for number, each in enumerate(error.errors())
    ]
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    detail = "The request does not have the form that this address takes."
    return problem_response(
        Problem(
            title=status.phrase,
            status=status,
            detail=detail,
            code="REQUEST_REFUSED",
            remedy=BadRequest.remedy,
            problems=problems,
        )
    )


async def _http_error(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):  # registered for nothing else
        raise error
    status = HTTPStatus(error.status_code)
    code = status.name
    headers = dict(error.headers) if error.headers else None
    problem = Problem(
        title=status.phrase,
        status=status,
        detail=f"{error.detail}.",
        code=code,
        remedy="See /docs for what is here.",
    )
    return problem_response(problem, headers)


async def _unforeseen(_request: Request, _error: Exception) -> JSONResponse:
    """Answer in the usual form.

    The server logs the error with its traceback, and the client learns nothing of it.
    """
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return problem_response(
        Problem(
            title=status.phrase,
            status=status,
            detail="The admin met an error of its own.",
            code=RelayError.code,
            remedy=RelayError.remedy,
        )
    )

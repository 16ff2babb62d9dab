"""Converts errors to HTTP answers: `application/problem+json` (RFC 9457), or a page."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from api.error_status import problem_of, status_of
from api.errors import (
    BadRequest,
    ChecksBusy,
    LoginPaused,
    MethodUnknown,
    PeeksBusy,
    TokenMissing,
)
from api.models.problem import MappingProblemView, Problem
from api.web.problems import leads_to_login, login_redirect, problem_page, wants_page
from relay.errors import RelayError
from relay.settings import UNKNOWN_KEY, unknown_key

PROBLEM_JSON: Final = "application/problem+json"
# A client that retries after this time finds a ZooKeeper that was only restarted.
_RETRY_AFTER_SECONDS: Final = 5
_READABLE: Final = (
    "Send JSON in UTF-8, without compression, and without thousands of nested levels or of digits "
    "of one number."
)
"""What the reader of JSON takes, beside its form."""
_SUGGESTED: Final = 20
"""So many problems of one request get a suggestion."""


def install_error_handlers(app: FastAPI) -> None:
    """Register handlers that answer every error as `application/problem+json`, or as a page."""
    app.add_exception_handler(RelayError, _relay_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unforeseen)


def _answer(request: Request, problem: Problem, headers: dict[str, str] | None = None) -> Response:
    if not wants_page(request.scope):
        return problem_response(problem, headers)
    page = problem_page(request, problem)
    page.headers.update(headers or {})
    return page


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the error as an answer in the form of RFC 9457."""
    content = problem.model_dump(by_alias=True, exclude_none=True)
    return _ProblemResponse(content, status_code=problem.status, headers=headers)


class _ProblemResponse(JSONResponse):
    media_type = PROBLEM_JSON

    def render(self, content: Any) -> bytes:
        """Return `content` as the bytes of JSON.

        Half of a surrogate pair, which a request may contain, is written as an escape.
        """
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "backslashreplace"
        )


async def _relay_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, RelayError):  # registered for nothing else
        raise error
    return answer_to(error, request)


def answer_to(error: RelayError, request: Request) -> Response:
    """Return the HTTP answer to an error: a page for a browser, otherwise
    `application/problem+json`.

    A browser that opens a page without a session is redirected to the form for signing in.
    """
    if isinstance(error, TokenMissing) and leads_to_login(request.scope):
        return login_redirect(request)
    status = status_of(error)
    headers = (
        {"Retry-After": str(_RETRY_AFTER_SECONDS)}
        if status == HTTPStatus.SERVICE_UNAVAILABLE or isinstance(error, (PeeksBusy, ChecksBusy))
        else {}
    )
    if isinstance(error, TokenMissing):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, LoginPaused):
        headers["Retry-After"] = str(error.seconds)
    if isinstance(error, MethodUnknown):
        headers["Allow"] = error.allowed
    return _answer(request, problem_of(error), headers)


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


async def _invalid_request(request: Request, error: Exception) -> Response:
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
    detail = "The request does not have the form that this endpoint expects."
    return _answer(
        request,
        Problem(
            title=status.phrase,
            status=status,
            detail=detail,
            code="REQUEST_REFUSED",
            remedy=BadRequest.remedy,
            problems=problems,
        ),
    )


async def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):  # registered for nothing else
        raise error
    status = HTTPStatus(error.status_code)
    if status == HTTPStatus.BAD_REQUEST:  # FastAPI found no JSON in the body, and says no reason
        return answer_to(BadRequest("The body cannot be read.", remedy=_READABLE), request)
    headers = dict(error.headers) if error.headers else None
    is_unknown = status == HTTPStatus.NOT_FOUND
    problem = Problem(
        title=status.phrase,
        status=status,
        detail="This URL does not exist." if is_unknown else f"{error.detail}.",
        code=status.name,
        remedy="Check the URL. The endpoints are listed at /docs.",
    )
    return _answer(request, problem, headers)


async def _unforeseen(request: Request, _error: Exception) -> Response:
    """Return the usual form of an error.

    The server logs the error with its traceback, and the client gets no details.
    """
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return _answer(
        request,
        Problem(
            title=status.phrase,
            status=status,
            detail="The admin has an internal error.",
            code=RelayError.code,
            remedy="Read the log of the admin around this time.",
        ),
    )

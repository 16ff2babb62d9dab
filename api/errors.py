"""Errors of the admin itself.

ApiError
├── BadRequest              400
├── TokenMissing            401
│   └── TokenWrong          401
├── SessionMissing          403
├── FirstAdminRefused       403
├── LoginRefused            401
├── LoginPaused             429
│   └── LoginBusy           429
├── PeeksBusy               429
├── ChecksBusy              429
├── WritesForbidden         403
├── RightMissing            403
├── ForgeryRefused          403
├── NoSuchThing             404
├── MethodUnknown           405
├── BodyTooSlow             408
├── ActiveSetBroken         409
├── DefinedInFile           409
├── PreconditionFailed      412
├── BodyTooLarge            413
├── HostUnknown             421
├── InstanceRefused         422
├── ProblemsFound           422   the documents cannot be activated; has the list
└── PreconditionRequired    428
"""

from collections.abc import Collection, Sequence
from http import HTTPStatus
from typing import ClassVar

from relay.errors import RelayError
from relay.route import Documents, MappingProblem


class ApiError(RelayError):
    """Base class of the admin's own errors."""

    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR


class BadRequest(ApiError):
    """The request cannot be understood."""

    code = "BAD_REQUEST"
    remedy = "Correct the request."
    status = HTTPStatus.BAD_REQUEST


class TokenMissing(ApiError):
    """The endpoint requires a token, and the request has none."""

    code = "TOKEN_MISSING"
    remedy = (
        "Sign in at /login, or send `Authorization: Bearer <token>` with your own token (`roma "
        "tokens add`) or with the admin's (api.token)."
    )
    status = HTTPStatus.UNAUTHORIZED


class TokenWrong(TokenMissing):
    """The token is unknown, has expired or was revoked, or its owner is disabled."""

    code = "TOKEN_WRONG"
    remedy = (
        "Send a token that `roma tokens list` shows, or the value of api.token in the admin's "
        "configuration file. If that is `${NAME}`, the value is in the variable or file NAME."
    )


class SessionMissing(ApiError):
    """The act requires a signed-in user, and the caller is not signed in."""

    code = "SESSION_MISSING"
    remedy = "Sign in at /login, or let an administrator change the account."
    status = HTTPStatus.FORBIDDEN


class FirstAdminRefused(ApiError):
    """The link for the first administrator is not valid any more, or is wrong."""

    code = "FIRST_ADMIN_REFUSED"
    remedy = (
        "Restart the admin while there are no users: it prints a new link. Or add a user on a "
        "server with the configuration file (`roma users add`)."
    )
    status = HTTPStatus.FORBIDDEN


class LoginRefused(ApiError):
    """The name is unknown, the password is wrong, or the user is disabled."""

    code = "LOGIN_REFUSED"
    remedy = "Try again, or let an administrator set a new password (`roma users password`)."
    status = HTTPStatus.UNAUTHORIZED


class LoginPaused(ApiError):
    """Too many wrong passwords; `seconds` is the time until the next attempt is possible."""

    code = "LOGIN_PAUSED"
    remedy = "Try again after the number of seconds in the header Retry-After."
    status = HTTPStatus.TOO_MANY_REQUESTS

    def __init__(self, reason: str, seconds: int) -> None:
        super().__init__(reason)
        self.seconds = seconds


class LoginBusy(LoginPaused):
    """Too many users sign in at the same time."""

    code = "LOGIN_BUSY"

    def __init__(self, reason: str) -> None:
        super().__init__(reason, 5)


class PeeksBusy(ApiError):
    """The admin already has the largest allowed number of topic readers."""

    code = "PEEKS_BUSY"
    remedy = "Close a page or stream that reads a table, or try again in some seconds."
    status = HTTPStatus.TOO_MANY_REQUESTS


class ChecksBusy(ApiError):
    """The admin already runs the checks of an instance."""

    code = "CHECKS_BUSY"
    remedy = "Try again in some seconds."
    status = HTTPStatus.TOO_MANY_REQUESTS


class WritesForbidden(ApiError):
    """The admin has neither token nor users, so writing is not possible."""

    code = "WRITES_FORBIDDEN"
    remedy = (
        "Add a user and a token (`roma users add`, `roma tokens add`), or set api.token and start "
        "the admin again."
    )
    status = HTTPStatus.FORBIDDEN


class RightMissing(ApiError):
    """The caller is known, but does not have the right that the endpoint requires."""

    code = "RIGHT_MISSING"
    remedy = "Send a token that has the right, or ask an administrator of this installation."
    status = HTTPStatus.FORBIDDEN


class ForgeryRefused(ApiError):
    """The request has the cookie of a session, and lacks the proof that the user sent it."""

    code = "FORGERY_REFUSED"
    remedy = (
        "Load the page again and send the form once more. A program sends the header "
        "X-CSRF-Token with the value of GET /api/v1/session, or a token instead of the cookie."
    )
    status = HTTPStatus.FORBIDDEN


class NoSuchThing(ApiError):
    """The URL names an object that does not exist."""

    code = "NOT_FOUND"
    remedy = "Check the name."
    status = HTTPStatus.NOT_FOUND


class MethodUnknown(ApiError):
    """The URL exists, but does not accept this method."""

    code = "METHOD_NOT_ALLOWED"
    remedy = "Use one of the methods in the header Allow; see /docs."
    status = HTTPStatus.METHOD_NOT_ALLOWED

    def __init__(self, reason: str, methods: Collection[str]) -> None:
        super().__init__(reason)
        self.allowed = allowed(methods)


class ActiveSetBroken(ApiError):
    """The active mapping set in ZooKeeper cannot be read; relays keep the last set that they
    read.
    """

    code = "SET_IN_FORCE_BROKEN"
    remedy = (
        "Roll back to a good set (POST /api/v1/mappings/rollback with If-Match: *), or save all "
        "documents at once."
    )
    status = HTTPStatus.CONFLICT


class DefinedInFile(ApiError):
    """The instance is defined in the configuration file, so the admin cannot change its
    settings.
    """

    code = "DEFINED_IN_FILE"
    remedy = (
        "Change the configuration file and restart the relays. To change the instance here, "
        "remove it from the file first."
    )
    status = HTTPStatus.CONFLICT


class InstanceRefused(ApiError):
    """The settings of an instance are contradictory, or contain an unknown field; nothing was
    saved.
    """

    code = "INSTANCE_REFUSED"
    remedy = "Correct the named fields."
    status = HTTPStatus.UNPROCESSABLE_ENTITY


class PreconditionFailed(ApiError):
    """If-Match or If-None-Match names another state than the present one."""

    code = "PRECONDITION_FAILED"
    remedy = "Read the object again, apply the change to its present state, and save with its ETag."
    status = HTTPStatus.PRECONDITION_FAILED


class BodyTooLarge(ApiError):
    """The request's body is larger than any save may be."""

    code = "BODY_TOO_LARGE"
    remedy = "Name shards by regular expressions instead of one by one."
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class BodyTooSlow(ApiError):
    """The request's body did not arrive in time."""

    code = "BODY_TOO_SLOW"
    remedy = "Send the request again, and send its body without pauses."
    status = HTTPStatus.REQUEST_TIMEOUT


class HostUnknown(ApiError):
    """The request's Host header names another server than this one."""

    code = "HOST_UNKNOWN"
    remedy = (
        "Use an IP address or localhost in the URL, or add the name to api.hosts in the "
        "admin's configuration and restart the admin."
    )
    status = HTTPStatus.MISDIRECTED_REQUEST


class PreconditionRequired(ApiError):
    """An edit of an existing object requires the ETag of the edited state."""

    code = "PRECONDITION_REQUIRED"
    remedy = (
        "Read the object first and send its ETag as If-Match, so that you do not overwrite the "
        "edit of another user."
    )
    status = HTTPStatus.PRECONDITION_REQUIRED


class ProblemsFound(ApiError):
    """The documents are invalid or contradict each other; nothing was saved."""

    code = "MAPPING_REFUSED"
    remedy = (
        "Correct the named fields. Documents that need each other can be saved together (PUT "
        "/api/v1/configs/ROMA_GROUP), "
        "or one after another in the order topics, dbs, tbs, tags."
    )
    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(
        self, problems: Sequence[MappingProblem], documents: Documents | None = None
    ) -> None:
        count = len(problems)
        super().__init__(
            f"{count} problem{'s' if count > 1 else ''} found; the active set stays active."
        )
        self.problems = tuple(problems)
        self.documents = documents or {}


def allowed(methods: Collection[str]) -> str:
    """Return the value of the header Allow for these methods; OPTIONS is added."""
    return ", ".join(sorted({*methods, "OPTIONS"}))

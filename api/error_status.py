"""Chooses the HTTP status and the text of an error of the relay or the admin."""

from http import HTTPStatus
from typing import Final

from api.errors import ApiError, ProblemsFound
from api.models.problem import ConflictView, MappingProblemView, Problem
from api.services.mappings.merge.conflict import MappingConflict
from relay.errors import (
    AccountRefused,
    AuditUnreadable,
    BackupRefused,
    ConfigurationError,
    DeadLettersUnreadable,
    DeadLetterUnknown,
    ErasureInterrupted,
    ErasureRefused,
    Fenced,
    MappingRefused,
    MessageTooLarge,
    MoveRefused,
    NodeMissing,
    NothingToPeek,
    PlacementRefused,
    PositionUnreadable,
    RelayError,
    ReplayRefused,
    SaveTooLarge,
    SnapshotRefused,
    SourceNotNamed,
    Stop,
    StoreRefused,
    TableReturnsEarly,
    Unreachable,
    ValueHidden,
    VersionConflict,
)

_STATUS: Final[dict[type[RelayError], HTTPStatus]] = {
    AccountRefused: HTTPStatus.CONFLICT,
    AuditUnreadable: HTTPStatus.SERVICE_UNAVAILABLE,
    Unreachable: HTTPStatus.SERVICE_UNAVAILABLE,
    PositionUnreadable: HTTPStatus.SERVICE_UNAVAILABLE,
    MoveRefused: HTTPStatus.CONFLICT,
    TableReturnsEarly: HTTPStatus.CONFLICT,
    SourceNotNamed: HTTPStatus.BAD_REQUEST,
    Fenced: HTTPStatus.CONFLICT,
    ConfigurationError: HTTPStatus.CONFLICT,
    Stop: HTTPStatus.BAD_GATEWAY,
    DeadLettersUnreadable: HTTPStatus.SERVICE_UNAVAILABLE,
    DeadLetterUnknown: HTTPStatus.NOT_FOUND,
    ReplayRefused: HTTPStatus.CONFLICT,
    ValueHidden: HTTPStatus.CONFLICT,
    SnapshotRefused: HTTPStatus.CONFLICT,
    BackupRefused: HTTPStatus.CONFLICT,
    ErasureRefused: HTTPStatus.CONFLICT,
    ErasureInterrupted: HTTPStatus.CONFLICT,
    MessageTooLarge: HTTPStatus.CONFLICT,
    VersionConflict: HTTPStatus.PRECONDITION_FAILED,
    NodeMissing: HTTPStatus.NOT_FOUND,
    NothingToPeek: HTTPStatus.NOT_FOUND,
    MappingRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    SaveTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    PlacementRefused: HTTPStatus.CONFLICT,
    StoreRefused: HTTPStatus.BAD_GATEWAY,
}


def status_of(error: RelayError) -> HTTPStatus:
    """Return the HTTP status of an error.

    An error of another package has the status of its nearest base class in the table, and 500
    without one.
    """
    if isinstance(error, ApiError):
        return error.status
    return next(
        (_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )


def problem_of(error: RelayError) -> Problem:
    """Return an error as the body of an answer: reason, code, remedy, and the problems in
    documents.
    """
    status = status_of(error)
    if isinstance(error, SourceNotNamed):
        error = error.asked_with("`source`")
    return Problem(
        title=status.phrase,
        status=status,
        detail=error.reason,
        code=error.code,
        remedy=error.way_out,
        problems=_problems(error),
        conflict=_conflict(error),
    )


def _conflict(error: RelayError) -> ConflictView | None:
    if not isinstance(error, MappingConflict):
        return None
    note = error.record.note
    return ConflictView(
        set=error.record.number,
        author=note.author,
        saved_ms=note.saved_ms,
        comment=note.comment,
        theirs=dict(error.theirs),
        mine=dict(error.mine),
    )


def _problems(error: RelayError) -> list[MappingProblemView] | None:
    if isinstance(error, ProblemsFound):
        return MappingProblemView.listed(error.problems, error.documents)
    if isinstance(error, MappingRefused):
        return [
            MappingProblemView(data_id=error.data_id, pointer=error.pointer, sentence=error.reason)
        ]
    return None

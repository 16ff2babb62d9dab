"""Makes the errors for events that the relay recognizes but cannot publish correctly."""

from typing import Final

from relay.errors import UnsupportedEvent
from relay.model import event_types as types

_INCIDENT_REMEDY: Final = (
    "The binlog of the source itself lacks changes: make a new first copy, and start after "
    "this event."
)
_FORMAT_REMEDY: Final = (
    "Set binlog_format=ROW for every session of the source, then start from a position after this "
    "event."
)

_OLD_REMEDY: Final = (
    "Start from a binlog file that a later release wrote, and make a new first copy."
)

STOPPING_TYPES: Final = (
    types.INCIDENT,
    types.EXECUTE_LOAD_QUERY,
    *types.OLD_LOADS,
    *types.TRIAL_ROWS,
)
_SAVEPOINT_REMEDY: Final = (
    "Move the position after this transaction (`roma position set`), and copy the tables that it "
    "changed again. Let the application give its savepoints names that differ by more than accents."
)
_UNREADABLE_REMEDY: Final = (
    "Move the position after this transaction (`roma position set`), and copy the tables that "
    "it changed again. Report the statement: this version cannot parse it."
)


def stopping_event(type_code: int, coordinates: str) -> UnsupportedEvent:
    """Return the error for an event whose type is one of STOPPING_TYPES. `coordinates` is
    file:offset.
    """
    match type_code:
        case types.INCIDENT:
            return UnsupportedEvent(
                f"The source logged an incident at {coordinates}: it could not log all changes.",
                remedy=_INCIDENT_REMEDY,
            )
        case code if code in types.TRIAL_ROWS:
            what = (
                f"The row event at {coordinates} is of type {code}, which only MySQL 5.1 before "
                f"its general availability wrote"
            )
            return UnsupportedEvent(f"{what}: it is not supported.", remedy=_OLD_REMEDY)
        case _:
            return UnsupportedEvent(
                f"There is a LOAD DATA in statement format at {coordinates}.", remedy=_FORMAT_REMEDY
            )


def doubtful_savepoint(coordinates: str, name: str, held: str, begin: str) -> UnsupportedEvent:
    """Return the error for a savepoint statement if the relay cannot decide which of two savepoints
    the server applies it to.

    `name` is the name in the statement, `held` that of the other savepoint, and `begin` where the
    transaction begins.
    """
    return UnsupportedEvent(
        f"The event at {coordinates} names the savepoint {name!r}, and the transaction that "
        f"begins at {begin} set {held!r} later. Some servers treat these two names as equal, "
        "so it is unknown which rows were rolled back.",
        remedy=_SAVEPOINT_REMEDY,
    )


def unreadable_savepoint(coordinates: str, sql: str, begin: str) -> UnsupportedEvent:
    """Return the error for a savepoint statement whose savepoint name cannot be read. `begin` is
    where the transaction begins.
    """
    return UnsupportedEvent(
        f"The statement {sql!r} at {coordinates}, in the transaction that begins at {begin}, "
        "cannot be parsed. So it is unknown which savepoint it names, and which rows were "
        "rolled back.",
        remedy=_UNREADABLE_REMEDY,
    )

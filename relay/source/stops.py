"""The sentences for events that are known and cannot be published correctly."""

from typing import Final

from relay.errors import UnsupportedEvent
from relay.source import event_types as types

XA_IN_USE: Final = "XA transactions are used on the source, and they cannot be published yet."
_XA_REMEDY: Final = (
    "Let no application use XA transactions on this source, then start from a position after this one; "
    "rows of the XA transactions before it must be copied anew."
)
_INCIDENT_REMEDY: Final = "Changes are missing in the binlog of the source itself: make a new first copy and start after this event."
_FORMAT_REMEDY: Final = "Set binlog_format=ROW for every session of the source, then start from a position after this event."

STOPPING_TYPES: Final = (types.XA_PREPARE, types.INCIDENT, types.EXECUTE_LOAD_QUERY)


def xa_transaction(place: str) -> UnsupportedEvent:
    """Servers log the rows of XA at PREPARE, when nobody knows yet whether they will be."""
    return UnsupportedEvent(f"{XA_IN_USE} One stands at {place}.", remedy=_XA_REMEDY)


def rollback_in_payload(place: str) -> UnsupportedEvent:
    """Inside a payload all events share one place, so no part of it can be left out on a second reading."""
    return UnsupportedEvent(f"A compressed transaction at {place} rolls back a part of itself.", remedy=_FORMAT_REMEDY)


def stopping_event(type_code: int, place: str) -> UnsupportedEvent:
    """The stop for an event of one of STOPPING_TYPES."""
    match type_code:
        case types.XA_PREPARE:
            return xa_transaction(place)
        case types.INCIDENT:
            return UnsupportedEvent(f"The source notes an incident at {place}: it could not log all changes.", remedy=_INCIDENT_REMEDY)
        case _:
            return UnsupportedEvent(f"LOAD DATA in statement format stands at {place}.", remedy=_FORMAT_REMEDY)

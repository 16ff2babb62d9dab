"""The sentences for events that are known and cannot be published correctly."""

from typing import Final

from relay.errors import UnsupportedEvent
from relay.source import event_types as types

_INCIDENT_REMEDY: Final = "Changes are missing in the binlog of the source itself: make a new first copy and start after this event."
_FORMAT_REMEDY: Final = "Set binlog_format=ROW for every session of the source, then start from a position after this event."

STOPPING_TYPES: Final = (types.INCIDENT, types.EXECUTE_LOAD_QUERY)


def rollback_in_payload(place: str) -> UnsupportedEvent:
    """Inside a payload all events share one place, so no part of it can be left out on a second reading."""
    return UnsupportedEvent(f"A compressed transaction at {place} rolls back a part of itself.", remedy=_FORMAT_REMEDY)


def stopping_event(type_code: int, place: str) -> UnsupportedEvent:
    """The stop for an event of one of STOPPING_TYPES."""
    match type_code:
        case types.INCIDENT:
            return UnsupportedEvent(f"The source notes an incident at {place}: it could not log all changes.", remedy=_INCIDENT_REMEDY)
        case _:
            return UnsupportedEvent(f"LOAD DATA in statement format stands at {place}.", remedy=_FORMAT_REMEDY)

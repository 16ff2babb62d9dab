"""Server-sent events: their format, and when a stream must end."""

from api.routers.streams.answer import EventStream, event
from api.routers.streams.follower import SILENCE_SECONDS, Follower

__all__ = ["SILENCE_SECONDS", "EventStream", "Follower", "event"]

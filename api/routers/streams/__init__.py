"""Server-sent events: how long a stream lasts, and whether its receiver may still read."""

from api.routers.streams.answer import EventStream, event
from api.routers.streams.follower import SILENCE_SECONDS, Follower

__all__ = ["SILENCE_SECONDS", "EventStream", "Follower", "event"]

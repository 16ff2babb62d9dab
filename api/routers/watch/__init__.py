"""What the watch saw: needs, series, states, and their changes as events."""

from api.routers.watch.events import router

__all__ = ["router"]

"""What the watch saw: needs, series, states."""

from api.routers.watch.observed import router

__all__ = ["router"]

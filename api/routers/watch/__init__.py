"""Endpoints with what the admin observes (the watch): problems that need an operator, time series
and states of instances, and state changes as server-sent events.
"""

from api.routers.watch.events import router

__all__ = ["router"]

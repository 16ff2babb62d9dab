"""Failover of sources: the proof, and the orders."""

from api.web.pages.failover import acts, page

ROUTERS = (page.router, acts.router)

__all__ = ["ROUTERS"]

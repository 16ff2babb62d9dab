"""The failover page of sources, and its orders."""

from api.web.pages.failover import acts, page

ROUTERS = (page.router, acts.router)

__all__ = ["ROUTERS"]

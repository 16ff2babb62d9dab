"""The page of the servers of sources, and the forms for operators' orders."""

from api.web.pages.failover import acts, page

ROUTERS = (page.router, acts.router)

__all__ = ["ROUTERS"]

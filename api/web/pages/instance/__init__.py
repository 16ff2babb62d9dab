"""The page of one instance, and the acts of its dialogs."""

from api.web.pages.instance import acts, page, reposition

ROUTERS = (page.router, acts.router, reposition.router)

__all__ = ["ROUTERS"]

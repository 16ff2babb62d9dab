"""The pages of servers: relays, placement and maintenance."""

from api.web.pages.servers.page import router

ROUTERS = (router,)

__all__ = ["ROUTERS"]

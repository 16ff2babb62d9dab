"""The admin's pages: templates, static files, and what a page shows of the services' answers."""

from api.web.install import ROUTERS, install_web

__all__ = ["ROUTERS", "install_web"]

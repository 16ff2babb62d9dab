"""The admin's pages: templates, static files, and the views of the services' answers."""

from api.web.install import ROUTERS, install_web

__all__ = ["ROUTERS", "install_web"]

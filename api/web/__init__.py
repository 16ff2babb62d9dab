"""The admin's pages: templates, static files, and the data of the templates."""

from api.web.install import ROUTERS, install_web

__all__ = ["ROUTERS", "install_web"]

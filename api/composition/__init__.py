"""Constructs the parts of the admin once, when the admin starts."""

from api.composition.admin import Admin, compose

__all__ = ["Admin", "compose"]

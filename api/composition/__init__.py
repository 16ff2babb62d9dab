"""The parts of the admin, put together once when it starts."""

from api.composition.admin import Admin, compose

__all__ = ["Admin", "compose"]

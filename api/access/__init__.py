"""Identifies the callers of the admin, and checks the rights that each endpoint requires."""

from api.access.authentication import Gate
from api.access.caller import ANONYMOUS, Caller, OpenSession
from api.access.endpoints import rights_needed

__all__ = ["ANONYMOUS", "Caller", "Gate", "OpenSession", "rights_needed"]

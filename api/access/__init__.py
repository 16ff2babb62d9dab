"""Who calls the admin, and what each endpoint asks of the caller."""

from api.access.authentication import Gate
from api.access.caller import ANONYMOUS, Caller
from api.access.endpoints import rights_needed

__all__ = ["ANONYMOUS", "Caller", "Gate", "rights_needed"]

"""Rows straight from the bytes of an event to the bytes of messages, by compiled code where a compiler was at hand.

Without it the readable rooms do the whole work; `COMPILED` says which.
"""

from importlib.util import find_spec
from typing import Final

COMPILED: Final = find_spec("relay.compiled.row_printer") is not None
"""Whether the compiled printer is here."""

__all__ = ["COMPILED"]

"""Rows straight from the bytes of an event to the bytes of messages, by compiled code where a compiler was at hand.

Without it relay.generated prints rows, and events are read one by one; `COMPILED` says which.
"""

from importlib.util import find_spec
from typing import Final

COMPILED: Final = all(find_spec(f"relay.compiled.{name}") for name in ("event_scanner", "row_printer", "block_sender"))
"""Whether the compiled modules are here."""

__all__ = ["COMPILED"]

"""Finds the events in received bytes by compiled code, if it is available."""

from relay.compiled import COMPILED
from relay.source import Scanner

if COMPILED:
    from relay.compiled.event_scanner import EventScanner


def event_scanner() -> Scanner | None:
    """Return the compiled scanner; None without a compiler, and then events are read one by one."""
    return EventScanner() if COMPILED else None

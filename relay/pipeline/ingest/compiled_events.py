"""Gives the compiled scanner that finds events in received bytes, if there is compiled code."""

from relay.compiled import COMPILED
from relay.source import Scanner

if COMPILED:
    from relay.compiled.event_scanner import EventScanner


def event_scanner() -> Scanner | None:
    """Return the compiled scanner; None without compiled code: events are then read one by one."""
    return EventScanner() if COMPILED else None

"""Structured log lines: an event's name, and its fields as text and as `extra`."""

import logging
from typing import Final

LOGGER: Final = logging.getLogger("roma_client")


def log_event(level: int, event: str, **fields: object) -> None:
    """Log `event key=value …`; the record's attribute `roma` has the fields for JSON formatters."""
    if LOGGER.isEnabledFor(level):
        told = " ".join(f"{name}={value}" for name, value in fields.items())
        LOGGER.log(level, "%s %s", event, told, extra={"roma": {"event": event, **fields}})

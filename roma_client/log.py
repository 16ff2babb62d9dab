"""Writes structured log entries: the name of an event, and its fields as text and as `extra`."""

import logging
from typing import Final

LOGGER: Final = logging.getLogger("roma_client")


def log_event(level: int, event: str, **fields: object) -> None:
    """Log `event key=value …`. JSON formatters find the fields in the log record's attribute
    `roma`.
    """
    if LOGGER.isEnabledFor(level):
        told = " ".join(f"{name}={value}" for name, value in fields.items())
        LOGGER.log(level, "%s %s", event, told, extra={"roma": {"event": event, **fields}})

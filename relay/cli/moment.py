"""Parses a time from the command line."""

from datetime import UTC, datetime
from typing import Final

import typer

MOMENT_HELP: Final = "A time with its zone (2026-01-31T12:00:00Z), or Unix milliseconds."


def moment(text: str) -> datetime:
    """Return the time that a text of the command line means.

    Raises BadParameter if it is invalid, or has no time zone and so could be wrong by hours.
    """
    try:
        read = (
            datetime.fromtimestamp(int(text) / 1000, UTC)
            if text.isdecimal()
            else datetime.fromisoformat(text)
        )
    except (ValueError, OverflowError) as exc:
        raise typer.BadParameter(f"{text!r} is not a time: {exc}.") from exc
    if read.tzinfo is None:
        raise typer.BadParameter(f"{text!r} names no time zone.")
    return read

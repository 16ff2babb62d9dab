"""Describes what a user of peek requests: which messages of a table, and from which time on."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from relay.model.table import TableId
from relay.operations.peek.rows import PeekedRow

NEWEST_ROWS: Final = 50
"""Number of existing rows that a reader gets immediately, before new ones follow."""
_UNIT_MS: Final = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SPAN: Final = re.compile(r"([1-9][0-9]{0,6})([smhd])", re.ASCII)
_MOST_MS: Final = 10**14


@dataclass(frozen=True, slots=True)
class FromNow:
    """Show only messages that are published after the reading begins."""


@dataclass(frozen=True, slots=True)
class FromNewest:
    """Start with the newest rows, then follow the topic."""


@dataclass(frozen=True, slots=True)
class FromMoment:
    """Start with the rows that were published at `at_ms` (Unix milliseconds) or later."""

    at_ms: int


PeekStart: TypeAlias = FromNow | FromNewest | FromMoment


def peek_start(text: str, now_ms: int) -> PeekStart:
    """Return where reading starts according to a text: `now`, `last`, a time span such as `15m`, a
    time with its zone, or Unix milliseconds.

    `now_ms` is the present time. Raises ValueError with a sentence for anything else.
    """
    if text == "now":
        return FromNow()
    if text == "last":
        return FromNewest()
    if span := _SPAN.fullmatch(text):
        return FromMoment(max(0, now_ms - int(span[1]) * _UNIT_MS[span[2]]))
    return FromMoment(_moment_ms(text))


def _moment_ms(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < _MOST_MS:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return max(0, int(moment.timestamp() * 1000))
    except (ValueError, OverflowError):
        pass
    raise ValueError(
        f"{text!r} is not a start: write now, last, a span such as 15m, or a time with its zone "
        "such as 2026-01-31T12:00:00Z."
    )


@dataclass(frozen=True, slots=True)
class PeekQuestion:
    """What a user of peek requests.

    table      the logical table
    operation  INSERT, UPDATE or DELETE; "": all
    key        a text that the key contains; "": all keys
    start      with which messages to begin
    """

    table: TableId
    operation: str = ""
    key: str = ""
    start: PeekStart = FromNow()

    def accepts(self, row: PeekedRow) -> bool:
        """Return whether the operation and the key of a row match the question.

        A row whose key is hidden matches no text, so that no reader can find out its key by trying.
        """
        if self.operation and row.operation != self.operation:
            return False
        return not self.key or (not row.key_hidden and self.key in row.key_text)

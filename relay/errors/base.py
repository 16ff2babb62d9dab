"""The root of the tree of errors."""

from typing import ClassVar


class RelayError(Exception):
    """The root of the tree of errors.

    `code` names the state, `remedy` tells the operator what to do.
    """

    code: ClassVar[str] = "RELAY_ERROR"
    remedy: ClassVar[str] = "Read the log of the relay around this time."

    def __init__(self, reason: str, *, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way_out = remedy or self.remedy

    def __str__(self) -> str:
        return f"{self.code}: {self.reason} {self.way_out}"

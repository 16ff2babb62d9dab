"""The base class of all errors of the relay, and the branch of errors that stop an instance."""

from typing import ClassVar


class RelayError(Exception):
    """The base class of all errors of the relay. `str()` gives code, reason and remedy.

    `code` names the error in the API, in metrics and in the docs. `remedy` tells operators what to
    do about errors of the class; `way_out` is the remedy of this error, which may be more exact.
    """

    code: ClassVar[str] = "RELAY_ERROR"
    remedy: ClassVar[str] = "Read the log of the relay around this time."

    def __init__(self, reason: str, *, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way_out = remedy or self.remedy

    def __str__(self) -> str:
        return f"{self.code}: {self.reason} {self.way_out}"


class Stop(RelayError):
    """The instance stops until an operator acts; nothing is lost in the meantime."""

    code = "STOPPED"

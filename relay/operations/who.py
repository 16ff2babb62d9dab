"""The actor and reason of an operator act."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Who:
    """An operator's name for the audit trail, and the given reason."""

    name: str
    comment: str = ""

"""Who carries out an operator act, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Who:
    """An operator's name and the reason that the operator gives, for the audit trail."""

    name: str
    comment: str = ""

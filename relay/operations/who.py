"""Who carries out an operator act, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Who:
    """An operator's name, and the operator's reason (`comment`), for the audit trail."""

    name: str
    comment: str = ""

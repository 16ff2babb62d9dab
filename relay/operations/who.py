"""Who does something by hand, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Who:
    """An operator's name as it stands in the audit trail, and the reason given."""

    name: str
    comment: str = ""

"""A time limit that several calls share."""

from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment after which waiting ends.

    Each step of an operation reads from it how long the step may take.
    """

    at_s: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline that passes in `seconds` of the monotonic clock."""
        return cls(monotonic() + seconds)

    @property
    def remaining_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at_s - monotonic())

    @property
    def passed(self) -> bool:
        """Return True if no time is left."""
        return monotonic() >= self.at_s

"""Limits the time of one check of mapping documents."""

from typing import Final

MOST_STEPS: Final = 1_000_000
"""Largest number of steps of a check that a client requested; it takes about a second.

A step is one comparison of two names, or one instruction of a compiled regular expression.
"""


class TooMuchEffort(ValueError):
    """A check needs more steps than its limit. The message is a sentence for the author of the
    documents.
    """


class Effort:
    """Counts the steps of a check, up to `most`; None: no limit."""

    __slots__ = ("_left", "_most")

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._left = most if most is not None else 0

    def spend(self, steps: int = 1) -> None:
        """Count `steps` steps; call it before they are done. Raises TooMuchEffort if the limit is
        exceeded.
        """
        if self._most is None:
            return
        self._left -= steps
        if self._left < 0:
            raise TooMuchEffort(
                f"Checking these documents takes more than {self._most} steps: every regular "
                f"expression is compared with every name. "
                "Use fewer or shorter expressions, or one expression in place of many names."
            )

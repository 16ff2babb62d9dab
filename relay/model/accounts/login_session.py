"""A sign-in of a user, as the installation stores it."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from relay.model.accounts.accounts import User

_CLOCKS_DIFFER_MS: Final = 300_000
"""Clocks of two admins may differ by so much. A session of a later time is refused."""


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A sign-in.

    user        name of the user
    stamp       that of the user when it signed in, see `stamp_of`
    created_ms  Unix milliseconds
    seen_ms     last request, rounded down; Unix milliseconds
    """

    user: str
    stamp: str
    created_ms: int
    seen_ms: int

    def is_over(self, now_ms: int, lifetime_s: float, idle_s: float) -> bool:
        """Return whether it is older than `lifetime_s`, was unused for `idle_s`, or begins later
        than the clock says.
        """
        return (
            self.created_ms > now_ms + _CLOCKS_DIFFER_MS
            or self.seen_ms > now_ms + _CLOCKS_DIFFER_MS
            or now_ms >= self.created_ms + lifetime_s * 1000
            or now_ms >= self.seen_ms + idle_s * 1000
        )

    def is_of(self, user: User) -> bool:
        """Return whether the user may still use it: it is enabled and its password is the same."""
        return (
            bool(user.password)
            and not user.disabled
            and (self.user, self.stamp) == (user.name, stamp_of(user))
        )


def stamp_of(user: User) -> str:
    """Return a value that changes with the user's password. It does not tell the password's hash.

    A user of the same name who is added later has another one.
    """
    text = f"{user.name}\n{user.created_ms}\n{user.password}"
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

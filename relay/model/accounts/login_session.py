"""A sign-in of a user, as the installation stores it."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from relay.model.accounts.accounts import User

_CLOCKS_DIFFER_MS: Final = 300_000
"""Largest difference of two admins' clocks. A session with a later time is refused."""


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A sign-in.

    user        name of the user
    stamp       that of the user when it signed in, see `stamp_of`
    created_ms  Unix milliseconds
    seen_ms     last request, rounded down; Unix milliseconds
    ends_ms     end that a provider set for it; Unix milliseconds, 0: none
    """

    user: str
    stamp: str
    created_ms: int
    seen_ms: int
    ends_ms: int = 0

    def is_over(self, now_ms: int, lifetime_s: float, idle_s: float) -> bool:
        """Return whether it is older than `lifetime_s`, was unused for `idle_s`, reached the
        provider's end, or begins in the future.
        """
        return (
            self.created_ms > now_ms + _CLOCKS_DIFFER_MS
            or self.seen_ms > now_ms + _CLOCKS_DIFFER_MS
            or now_ms >= self.created_ms + lifetime_s * 1000
            or now_ms >= self.seen_ms + idle_s * 1000
            or 0 < self.ends_ms <= now_ms
        )

    def is_of(self, user: User) -> bool:
        """Return whether the user may still use it: it is enabled, and its password or identity at
        the provider is the same.
        """
        return user.may_sign_in and (self.user, self.stamp) == (user.name, stamp_of(user))


def stamp_of(user: User) -> str:
    """Return a value that changes with the user's password or identity.

    The password's hash cannot be derived from it.

    A later user of the same name gets another value.
    """
    text = f"{user.name}\n{user.created_ms}\n{user.password}"
    if user.identity is not None:
        text += f"\n{user.identity.issuer}\n{user.identity.subject}"
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

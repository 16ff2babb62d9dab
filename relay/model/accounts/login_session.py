"""One sign-in of a user to the admin, as ZooKeeper stores it."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from relay.model.accounts.accounts import User

_CLOCKS_DIFFER_MS: Final = 300_000
"""How far the clocks of two admins may differ. A session that begins later than this is refused."""


@dataclass(frozen=True, slots=True)
class LoginSession:
    """One sign-in of a user.

    user        name of the user
    stamp       result of `stamp_of` for the user at the sign-in
    created_ms  Unix milliseconds
    seen_ms     time of the last request, rounded down; Unix milliseconds
    ends_ms     time at which a provider ends the session; Unix milliseconds, 0: none
    """

    user: str
    stamp: str
    created_ms: int
    seen_ms: int
    ends_ms: int = 0

    def is_over(self, now_ms: int, lifetime_s: float, idle_s: float) -> bool:
        """Return whether the session has ended: it is older than `lifetime_s`, was unused for
        `idle_s`, has reached the provider's end, or begins in the future.
        """
        return (
            self.created_ms > now_ms + _CLOCKS_DIFFER_MS
            or self.seen_ms > now_ms + _CLOCKS_DIFFER_MS
            or now_ms >= self.created_ms + lifetime_s * 1000
            or now_ms >= self.seen_ms + idle_s * 1000
            or 0 < self.ends_ms <= now_ms
        )

    def is_of(self, user: User) -> bool:
        """Return whether the session is still valid for the user: the user is enabled, and its
        password or identity is the one at the sign-in.
        """
        return user.may_sign_in and (self.user, self.stamp) == (user.name, stamp_of(user))


def stamp_of(user: User) -> str:
    """Return a text that changes with the user's password or identity.

    The hash of the password cannot be derived from it. A user who later gets the same name has
    another stamp.
    """
    text = f"{user.name}\n{user.created_ms}\n{user.password}"
    if user.identity is not None:
        text += f"\n{user.identity.issuer}\n{user.identity.subject}"
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

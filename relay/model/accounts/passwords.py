"""Which passwords a user may have. `relay.passwords` hashes them."""

from typing import Final

from relay.errors import AccountRefused

LEAST_CHARACTERS: Final = 12
MOST_CHARACTERS: Final = 200
"""Bounds the work of hashing."""
_LEAST_DIFFERENT: Final = 5
"""A password of fewer different characters is refused."""
_LEAST_OF_NAME: Final = 3
"""A user name that is shorter than this may be part of the password."""


def check_password(name: str, password: str) -> None:
    """Check a new password of a user.

    Raises AccountRefused for one that is too short, too long, repetitive, or has the name in it.
    """
    if not LEAST_CHARACTERS <= len(password) <= MOST_CHARACTERS:
        raise AccountRefused(
            f"A password has {LEAST_CHARACTERS} to {MOST_CHARACTERS} characters, and this one has "
            f"{len(password)}."
        )
    if len(set(password)) < _LEAST_DIFFERENT:
        raise AccountRefused(
            f"A password has at least {_LEAST_DIFFERENT} different characters, and this one has "
            f"{len(set(password))}."
        )
    if len(name) >= _LEAST_OF_NAME and name.lower() in password.lower():
        raise AccountRefused("A password must not contain the user's name.")

"""Which passwords a user may have. `relay.passwords` hashes them."""

from typing import Final

from relay.errors import AccountRefused

LEAST_CHARACTERS: Final = 12
MOST_CHARACTERS: Final = 200
"""Largest number of characters of a password; it limits the time of hashing."""
_LEAST_DIFFERENT: Final = 5
"""Least number of different characters of a password."""
_LEAST_OF_NAME: Final = 3
"""A password may contain a user name that is shorter than this."""


def check_password(name: str, password: str) -> None:
    """Check a user's new password.

    Raises AccountRefused if it is too short, too long, has too few different characters, or
    contains the user's name.
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

"""Hashes of passwords: argon2id (RFC 9106). The only module that imports argon2.

`relay.model.accounts.passwords` decides which passwords are accepted.
"""

from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MEMORY_BYTES: Final = 46 * 1024 * 1024
"""Memory in bytes that one hash or one verification needs."""
_PASSES: Final = 2
"""One hash takes 80 ms of CPU (median of 15) on the machine of the benchmarks."""
_HASHER: Final = PasswordHasher(
    time_cost=_PASSES, memory_cost=MEMORY_BYTES // 1024, parallelism=1, hash_len=32, salt_len=16
)


def hashed(password: str) -> str:
    """Return the hash of a password with a new random salt. It takes about 80 ms of CPU."""
    return _HASHER.hash(_bytes(password))


def verify(password: str, wanted: str) -> bool:
    """Return whether `password` has the hash `wanted`.

    An empty hash matches no password, and the check takes the same time.
    """
    try:
        _HASHER.verify(wanted or _nobodys(), _bytes(password))
    except (VerificationError, InvalidHashError):
        return False
    return bool(wanted)


@cache
def _nobodys() -> str:
    """Return a hash to verify against if the user does not exist or has no password."""
    return _HASHER.hash(b"")


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogateescape")

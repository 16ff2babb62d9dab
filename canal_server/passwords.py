"""The scrambled password of Canal's clients: MySQL's native password scheme.

Source: alibaba/canal, SecurityUtil; the same as mysql_native_password in MySQL's manual.
"""

import hmac
from hashlib import sha1
from typing import Final

SEED_BYTES: Final = 8
"""Length of the seeds that the server sends for each connection."""


def scrambled(password: str, seeds: bytes) -> bytes:
    """Return the hexadecimal digits that a client with this password must send for these seeds."""
    first = _sha1(password.encode())
    mask = _sha1(seeds + _sha1(first))
    return bytes(a ^ b for a, b in zip(first, mask, strict=True)).hex().encode()


def is_right(sent: bytes, password: str, seeds: bytes) -> bool:
    """Return whether a client sent the right password. The time does not depend on the sent
    digits.
    """
    return hmac.compare_digest(sent.lower(), scrambled(password, seeds))


def _sha1(data: bytes) -> bytes:
    return sha1(data).digest()  # noqa: S324  # the protocol's

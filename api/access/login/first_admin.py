"""Makes and checks the link by which the first administrator of a new installation is added."""

from collections.abc import Callable
from hmac import compare_digest
from secrets import token_urlsafe
from threading import Lock
from time import monotonic
from typing import Final

from api.errors import FirstAdminRefused

VALID_SECONDS: Final = 900.0
_RANDOM_BYTES: Final = 16


class FirstAdminLink:
    """Creates and checks the code of the link. The code exists only in the memory of this
    process.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._code = ""
        self._until_s = 0.0

    def offer(self) -> str:
        """Return a new code of 128 random bits. It replaces the former code and is valid for 15
        minutes.
        """
        with self._lock:
            self._code = token_urlsafe(_RANDOM_BYTES)
            self._until_s = self._clock() + VALID_SECONDS
            return self._code

    def check(self, code: str) -> None:
        """Raise FirstAdminRefused unless `code` is the newest code and is still valid."""
        with self._lock:
            is_valid = bool(self._code) and self._clock() < self._until_s
            sent = code.encode("utf-8", "surrogateescape")
            if not compare_digest(sent, self._code.encode()) or not is_valid:
                raise FirstAdminRefused(
                    "The link is not valid: it was used, is older than 15 minutes, or contains "
                    "a wrong code."
                )

    def close(self) -> None:
        """Make every code invalid."""
        with self._lock:
            self._code = ""

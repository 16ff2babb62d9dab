"""Keeps the last reading of a store for the time while its server does not answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import time
from typing import Generic, TypeVar

from relay.errors import RelayError, Unreachable

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Reading(Generic[Value]):
    """Something that was read from a store.

    read_ms  time of the reading in Unix milliseconds
    error    the error of a later reading, so that the value is old; None: the value is new
    """

    value: Value
    read_ms: int
    error: RelayError | None = None


class LastReading(Generic[Value]):
    """Reads a value from a store. If that fails, it returns the value that was read last, with the
    error.

    errors  errors after which the last reading is returned; others are raised
    """

    def __init__(
        self,
        errors: tuple[type[RelayError], ...] = (Unreachable,),
        now_s: Callable[[], float] = time,
    ) -> None:
        self._errors = errors
        self._now_s = now_s
        self._kept: Reading[Value] | None = None

    def of(self, read: Callable[[], Value]) -> Reading[Value]:
        """Return a reading with the value of `read`. If `read` raises one of `errors`, return the
        last value with the error.

        If no value was ever read, the error is raised.
        """
        try:
            kept = self._kept = Reading(read(), int(self._now_s() * 1000))
        except self._errors as error:
            if self._kept is None:
                raise
            return replace(self._kept, error=error)
        return kept

"""A verdict on the trail, cached as long as no byte of the trail changes."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TypeAlias

from relay.audit.verify import AuditVerdict, verify

Records: TypeAlias = Sequence[tuple[int, bytes | None]]


class KeptVerdict:
    """Keeps the last verdict with a digest of the records that it is of; threads may share one.

    A digest of all bytes costs far less than reading entries and following their chains, and a
    changed, missing or further record gives another one.
    """

    def __init__(self, check: Callable[[Records, int], AuditVerdict] = verify) -> None:
        self._check = check
        self._kept: tuple[bytes, AuditVerdict] | None = None

    def verdict(self, records: Records, first_offset: int) -> AuditVerdict:
        """Return the verdict of `verify` on all records of a topic."""
        mark, kept = _digest(records, first_offset), self._kept
        if kept is None or kept[0] != mark:
            kept = self._kept = mark, self._check(records, first_offset)
        return kept[1]


def _digest(records: Records, first_offset: int) -> bytes:
    found = blake2b(b"%d" % first_offset)
    for offset, value in records:
        found.update(b" %d %d " % (offset, -1 if value is None else len(value)))
        found.update(value or b"")
    return found.digest()

"""Caches the result of a check of the trail while no byte of the trail changes."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TypeAlias

from relay.audit.verify import AuditVerdict, verify

Records: TypeAlias = Sequence[tuple[int, bytes | None]]


class KeptVerdict:
    """The last result, with a digest of the records that it belongs to. Thread-safe.

    A digest of all bytes takes far less time than parsing entries and following their chains. A
    changed, missing or additional record gives another digest.
    """

    def __init__(self, check: Callable[[Records, int], AuditVerdict] = verify) -> None:
        self._check = check
        self._kept: tuple[bytes, AuditVerdict] | None = None

    def verdict(self, records: Records, first_offset: int) -> AuditVerdict:
        """Return the result of `verify` for all records of a topic; it is computed only if they
        have changed.

        `first_offset` is the topic's oldest offset.
        """
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

"""Reads entries of the audit trail, selected by time, actor, act and subject."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from api.readings import LastReading, Reading
from relay.audit import AuditEntry, AuditFilter, AuditTrail, AuditVerdict, Reference
from relay.errors import AuditUnreadable, Unreachable

_KEPT_ENTRIES: Final = 500


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries of the audit trail, the newest first.

    `older` is the parameter `before` for the next page (Unix milliseconds); None: this is the last
    page. A page contains all entries with the time of its last entry, so it may have more entries
    than requested.
    """

    entries: tuple[AuditEntry, ...]
    older: int | None


@dataclass(frozen=True, slots=True)
class CheckedEntries:
    """Entries of the trail, and what is known about the whole trail.

    entries  the newest entries
    acts     the names of the acts in the newest entries of the trail, sorted
    verdict  the result of the check of its hash chains
    """

    entries: Sequence[AuditEntry]
    acts: tuple[str, ...]
    verdict: AuditVerdict

    def page(self, wanted: AuditFilter, limit: int) -> AuditPage:
        """Return the newest entries that `wanted` accepts, as `AuditBook.page` does."""
        return page_of(self.entries, wanted, limit)


class AuditBook:
    """Reads pages of the audit trail.

    kept  how many of the newest entries stay in memory, to be shown while Kafka does not answer
    """

    def __init__(self, trail: AuditTrail, newest: int, kept: int = _KEPT_ENTRIES) -> None:
        self.trail = trail
        self._newest = newest
        self._kept = kept
        self._last: LastReading[CheckedEntries] = LastReading((Unreachable, AuditUnreadable))

    def page(self, wanted: AuditFilter, limit: int) -> AuditPage:
        """Return the newest entries that `wanted` accepts, at least `limit` of them if there are so
        many.

        Raises AuditUnreadable, Unreachable.
        """
        return page_of(self.trail.entries(self._newest), wanted, limit)

    def checked(self) -> Reading[CheckedEntries]:
        """Return the newest entries, the acts that occur in them, and the result of the chain
        check. While Kafka does not answer, return the newest entries of the last reading.

        Raises AuditUnreadable and Unreachable if no reading has succeeded yet.
        """
        whole: CheckedEntries | None = None

        def read() -> CheckedEntries:
            nonlocal whole
            entries, verdict = self.trail.checked_entries(self._newest)
            acts = tuple(sorted({each.act for each in entries}))
            whole = CheckedEntries(entries, acts, verdict)
            return replace(whole, entries=entries[: self._kept])

        found = self._last.of(read)
        return found if whole is None else replace(found, value=whole)

    def verdict(self, known: Iterable[Reference] = ()) -> AuditVerdict:
        """Check the hash chains of the whole trail and return the result.

        `known` are entries that an earlier check has seen; if the trail lacks one of them, the
        result says so. Raises AuditUnreadable, Unreachable.
        """
        return self.trail.verify(known)


def page_of(entries: Iterable[AuditEntry], wanted: AuditFilter, limit: int) -> AuditPage:
    """Return a page with the newest entries that `wanted` accepts.

    The page has `limit` entries or fewer if there are not so many, and more if further entries have
    the same time as the last one.
    """
    found = sorted(filter(wanted.accepts, entries), key=lambda each: -each.at_ms)
    shown = found[:limit]
    if not shown or len(found) <= limit:
        return AuditPage(tuple(shown), None)
    last = shown[-1].at_ms
    shown = [each for each in found if each.at_ms >= last]
    return AuditPage(tuple(shown), last if len(shown) < len(found) else None)

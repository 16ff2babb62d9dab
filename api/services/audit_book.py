"""Entries of the audit trail by time, actor, act and subject."""

from collections.abc import Iterable
from dataclasses import dataclass

from relay.audit import AuditEntry, AuditFilter, AuditTrail, AuditVerdict, Reference


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries, the newest first, and the `before` of the next page; None: there is none.

    A page includes all entries with the time of its last one, so it may have a few more than
    requested.
    """

    entries: tuple[AuditEntry, ...]
    older: int | None


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """A page of entries, all acts in the trail, sorted, and the verdict on its chains."""

    page: AuditPage
    acts: tuple[str, ...]
    verdict: AuditVerdict


class AuditBook:
    """Reads pages of the audit trail."""

    def __init__(self, trail: AuditTrail, newest: int) -> None:
        self._trail = trail
        self._newest = newest

    def page(self, wanted: AuditFilter, limit: int) -> AuditPage:
        """Return one page of entries. Raises AuditUnreadable, Unreachable."""
        return page_of(self._trail.entries(self._newest), wanted, limit)

    def checked_page(self, wanted: AuditFilter, limit: int) -> CheckedPage:
        """Return one page, the acts that occur in the trail, and the verdict on its chains.

        Raises AuditUnreadable, Unreachable.
        """
        entries, verdict = self._trail.checked_entries(self._newest)
        acts = sorted({each.act for each in entries})
        return CheckedPage(page_of(entries, wanted, limit), tuple(acts), verdict)

    def verdict(self, known: Iterable[Reference] = ()) -> AuditVerdict:
        """Check the chains of the whole trail. Raises AuditUnreadable, Unreachable."""
        return self._trail.verify(known)


def page_of(entries: Iterable[AuditEntry], wanted: AuditFilter, limit: int) -> AuditPage:
    """Return the newest matching entries, at least `limit` if there are that many."""
    found = sorted(filter(wanted.accepts, entries), key=lambda each: -each.at_ms)
    shown = found[:limit]
    if not shown or len(found) <= limit:
        return AuditPage(tuple(shown), None)
    last = shown[-1].at_ms
    shown = [each for each in found if each.at_ms >= last]
    return AuditPage(tuple(shown), last if len(shown) < len(found) else None)

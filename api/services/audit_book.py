"""Entries of the audit trail by time, actor, act and subject."""

from collections.abc import Iterable
from dataclasses import dataclass

from relay.audit import AuditEntry, AuditFilter, AuditTrail, AuditVerdict, Reference


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries of the audit trail, the newest first.

    `before` selects the next page; None: this is the last page. A page contains all entries with
    the time of its last entry, so it may have more entries than requested.
    """

    entries: tuple[AuditEntry, ...]
    older: int | None


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """A page of entries, the names of all acts in the trail (sorted), and the result of the chain
    check.
    """

    page: AuditPage
    acts: tuple[str, ...]
    verdict: AuditVerdict


class AuditBook:
    """Reads pages of the audit trail."""

    def __init__(self, trail: AuditTrail, newest: int) -> None:
        self._trail = trail
        self._newest = newest

    def page(self, wanted: AuditFilter, limit: int) -> AuditPage:
        """Return the newest entries that `wanted` accepts, at least `limit` of them if there are so
        many.

        Raises AuditUnreadable, Unreachable.
        """
        return page_of(self._trail.entries(self._newest), wanted, limit)

    def checked_page(self, wanted: AuditFilter, limit: int) -> CheckedPage:
        """Return one page as `page` does, all acts that occur in the trail, and the result of the
        chain check.

        Raises AuditUnreadable, Unreachable.
        """
        entries, verdict = self._trail.checked_entries(self._newest)
        acts = sorted({each.act for each in entries})
        return CheckedPage(page_of(entries, wanted, limit), tuple(acts), verdict)

    def verdict(self, known: Iterable[Reference] = ()) -> AuditVerdict:
        """Check the hash chains of the whole trail and return the result.

        `known` are entries that an earlier check saw; they must still exist. Raises
        AuditUnreadable, Unreachable.
        """
        return self._trail.verify(known)


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

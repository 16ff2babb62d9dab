"""Entries of the audit trail by time, actor, act and subject."""

from collections.abc import Iterable
from dataclasses import dataclass

from relay.audit import AuditEntry, AuditTrail


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What a reader looks for. Empty: any.

    act     the whole name of an act, or its beginning up to a dot: mapping
    before  entries before this moment alone, Unix milliseconds
    """

    actor: str = ""
    act: str = ""
    subject: str = ""
    before: int | None = None

    def accepts(self, entry: AuditEntry) -> bool:
        """Whether an entry is among those looked for."""
        return (
            (not self.actor or entry.actor == self.actor)
            and (not self.act or entry.act == self.act or entry.act.startswith(f"{self.act}."))
            and (not self.subject or entry.subject == self.subject)
            and (self.before is None or entry.at_ms < self.before)
        )


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries, the newest first, and the `before` of the next page; None: there is none.

    A page ends where the moment changes, so it may hold a few entries more than asked for.
    """

    entries: tuple[AuditEntry, ...]
    older: int | None


class AuditBook:
    """Reads pages of the audit trail."""

    def __init__(self, trail: AuditTrail, newest: int) -> None:
        self._trail = trail
        self._newest = newest

    def page(self, wanted: AuditFilter, limit: int) -> AuditPage:
        """Return one page of entries. Raises AuditUnreadable, Unreachable."""
        return page_of(self._trail.entries(self._newest), wanted, limit)

    def page_and_acts(self, wanted: AuditFilter, limit: int) -> tuple[AuditPage, list[str]]:
        """Return one page of entries, and the acts that occur in the trail, sorted.

        Raises AuditUnreadable, Unreachable.
        """
        entries = self._trail.entries(self._newest)
        return page_of(entries, wanted, limit), sorted({each.act for each in entries})


def page_of(entries: Iterable[AuditEntry], wanted: AuditFilter, limit: int) -> AuditPage:
    """Return the newest entries that are wanted, at least `limit` if there are so many."""
    found = sorted(filter(wanted.accepts, entries), key=lambda each: -each.at_ms)
    shown = found[:limit]
    if not shown or len(found) <= limit:
        return AuditPage(tuple(shown), None)
    last = shown[-1].at_ms
    shown = [each for each in found if each.at_ms >= last]
    return AuditPage(tuple(shown), last if len(shown) < len(found) else None)

"""Checks the chains: which facts about the audit trail they prove, and which they cannot (ADR
66).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from relay.audit.chain import (
    OlderEntries,
    Reference,
    StoredEntry,
    newest_entries,
    references,
)
from relay.errors import AuditUnreadable

ERASED: Final = "person.erased"
"""Name of the act whose entry lists the entries whose contents were erased."""
ERASED_ENTRIES: Final = "audit_entries"
"""Field in `after` of that act's entry: references of the erased entries."""
_NAMED: Final = 20
"""Largest number of findings of one kind that are listed. Further ones are counted."""
_LATE: Final = (
    "entries without a chain came after entries with one. "
    "A relay or admin of an older version writes such entries."
)
_OLDER_ERASED: Final = (
    "entries without a chain were erased, so the digest of all such entries cannot be checked."
)
_BLIND: Final = (
    "chains began without naming other entries: their writers could not read the topic then."
)


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """The result of a check of the trail.

    entries    number of entries in chains
    chains     number of these chains; each has one writer
    unchained  number of entries of format 1, which no chain protects
    repeated   records that repeat an entry, because Kafka's acknowledgement was lost
    erased     entries whose contents were erased by an act that the trail contains
    problems   sentences about missing, changed, contradicting or unreadable entries; empty: none
    notes      sentences about facts that are no problem and that weaken the proof, such as deleted
               old records
    newest     references to the entries that no other entry names. Store them elsewhere: later they
               prove that nothing before them was changed or removed
    """

    entries: int = 0
    chains: int = 0
    unchained: int = 0
    repeated: int = 0
    erased: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    newest: tuple[Reference, ...] = ()


@dataclass(slots=True)
class _Seen:
    """The entries of one reading of the topic."""

    by_place: dict[tuple[str, int], list[Reference]] = field(default_factory=dict)
    stored: dict[Reference, StoredEntry] = field(default_factory=dict)
    older: OlderEntries = field(default_factory=OlderEntries)
    late: int = 0
    repeated: int = 0
    older_erased: int = 0
    unreadable: list[int] = field(default_factory=list)

    def add(self, offset: int, value: bytes | None) -> None:
        """Take the next record of the topic."""
        try:
            stored = StoredEntry.from_bytes(value or b"")
        except AuditUnreadable:
            self.unreadable.append(offset)
            return
        reference = stored.reference
        if reference is None:
            self.older.add(value or b"")
            self.late += bool(self.stored)
            self.older_erased += bool(stored.erased)
        elif reference in self.stored:
            self.repeated += 1
            if self.stored[reference].erased and not stored.erased:
                # after an interrupted erasure the topic may have the entry with its contents and
                # without
                self.stored[reference] = stored
        else:
            self.stored[reference] = stored
            self.by_place.setdefault((reference.writer, reference.sequence), []).append(reference)


def verify(
    records: Iterable[tuple[int, bytes | None]],
    first_offset: int = 0,
    known: Iterable[Reference] = (),
) -> AuditVerdict:
    """Check all chains of the trail and return the result.

    records       offset and value of all committed records
    first_offset  oldest offset of the topic
    known         references of entries that were the newest at an earlier check
    """
    seen = _Seen()
    for offset, value in records:
        seen.add(offset, value)
    return AuditVerdict(
        entries=len(seen.stored),
        chains=len({each.writer for each in seen.stored}),
        unchained=len(seen.older),
        repeated=seen.repeated,
        erased=sum(bool(each.erased) for each in seen.stored.values()) + seen.older_erased,
        problems=(
            *_forks(seen),
            *_missing(seen, known),
            *_unnamed_erasures(seen),
            *_damaged(seen),
        ),
        notes=tuple(_notes(seen, first_offset)),
        newest=tuple(newest_entries(seen.stored.values())),
    )


def _forks(seen: _Seen) -> list[str]:
    return _few(
        f"Entry {sequence} of {writer} exists {len(same)} times with different contents."
        for (writer, sequence), same in seen.by_place.items()
        if len(same) > 1
    )


def _missing(seen: _Seen, known: Iterable[Reference]) -> list[str]:
    named: dict[Reference, str] = {}
    for each in known:
        named.setdefault(each, "the list of known entries")
    for place, stored in seen.stored.items():
        if stored.link is not None:
            for each in references(stored.link):
                named.setdefault(each, f"entry {place.sequence} of {place.writer}")
    return _few(
        sentence for each, by in named.items() if (sentence := _absence(seen, each, by)) is not None
    )


def _absence(seen: _Seen, wanted: Reference, by: str) -> str | None:
    """Return the problem of an entry that another entry names, None if it exists unchanged."""
    if not wanted.writer:
        if seen.older.has(wanted) or seen.older_erased:
            return None
        return (
            f"The first {wanted.sequence} entries without a chain, which {by} names, were changed, "
            f"or some are missing."
        )
    if wanted in seen.stored:
        return None
    at = (wanted.writer, wanted.sequence)
    what = "was changed or replaced" if at in seen.by_place else "is missing"
    return f"Entry {wanted.sequence} of {wanted.writer} {what}; {by} names it."


def _unnamed_erasures(seen: _Seen) -> list[str]:
    named: Counter[str] = Counter()
    for stored in seen.stored.values():
        if stored.entry.act == ERASED:
            named.update(_erased_of(stored.entry.after))
    return _few(
        f"Entry {each.sequence} of {each.writer} has no contents, and no {ERASED} entry names it."
        for each, stored in seen.stored.items()
        if stored.erased and str(each) not in named
    )


def _erased_of(after: Mapping[str, Any]) -> list[str]:
    listed = after.get(ERASED_ENTRIES, [])
    return [str(each) for each in listed] if isinstance(listed, list) else []


def _damaged(seen: _Seen) -> list[str]:
    return _few(f"The record at offset {each} is not an audit entry." for each in seen.unreadable)


def _notes(seen: _Seen, first_offset: int) -> list[str]:
    links = [stored.link for stored in seen.stored.values()]
    blind = sum(each is not None and each.seen is None for each in links)
    notes = {
        f"Records before offset {first_offset} were deleted from the topic.": first_offset,
        f"{seen.late} {_LATE}": seen.late,
        f"{seen.older_erased} {_OLDER_ERASED}": seen.older_erased,
        f"{blind} {_BLIND}": blind,
    }
    return [text for text, count in notes.items() if count]


def _few(sentences: Iterable[str]) -> list[str]:
    every = list(sentences)
    more = len(every) - _NAMED
    return [*every[:_NAMED], f"{more} more findings of this kind."] if more > 0 else every

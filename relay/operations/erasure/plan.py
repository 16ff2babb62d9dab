"""Describes what an erasure has found in each store."""

from dataclasses import dataclass, field
from time import monotonic

from relay.audit import HeldEntry
from relay.kafka import Tombstone


@dataclass(frozen=True, slots=True)
class TopicFinding:
    """What was found in one topic of rows.

    compacted   whether Kafka removes older records of a key
    bound_ms    the longest time until compaction, in milliseconds; None: no limit
    records     how many records with one of the keys have a value
    last        partition → offset after the last of these records
    tombstones  the tombstones to write: for each partition and key whose last record has a value
    others      how many records have no such key, but contain a key or text
    neighbours  how many other offsets are before those in `last`, counted from offset 0;
                `delete_records` deletes them too
    alike       the keys of records that are a searched key in another spelling
    ends        partition → offset up to which it was searched
    rows        for how many pairs of partition and key the last record is not a delete
    """

    topic: str
    compacted: bool
    bound_ms: int | None
    records: int = 0
    last: dict[int, int] = field(default_factory=dict)
    tombstones: tuple[Tombstone, ...] = ()
    others: int = 0
    neighbours: int = 0
    alike: tuple[str, ...] = ()
    ends: dict[int, int] = field(default_factory=dict)
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found in the stores other than topics of rows.

    dead_letters   instance → ids of dead letters
    claims         instance → paths of values in its claim-check store
    audit_entries  entries of the audit trail
    """

    dead_letters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    claims: dict[str, tuple[str, ...]] = field(default_factory=dict)
    audit_entries: tuple[HeldEntry, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything was found."""
        return bool(self.dead_letters or self.claims or self.audit_entries)

    def __add__(self, other: "Matches") -> "Matches":
        """Return both findings together."""
        return Matches(
            _joined(self.dead_letters, other.dead_letters),
            _joined(self.claims, other.claims),
            self.audit_entries + other.audit_entries,
        )


@dataclass(frozen=True, slots=True)
class ErasureChoice:
    """What an operator chooses to erase besides the keys.

    delete_records  in topics without compaction, delete all records up to the last one of the keys,
                    which includes records of other keys
    by_text         also erase data that only contains a text, which may belong to another person
    """

    delete_records: bool = False
    by_text: bool = False


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """All findings, and why they may be incomplete.

    topics      topics of rows with findings
    of_keys     dead letters and audit entries with a key, and values to which only records in
                compacted topics point
    of_records  values to which records in topics without compaction point
    by_text     data that contains a text and is neither in `of_keys` nor in `of_records`
    internal    internal topic (position, schema, XA) → number of records that contain a key or text
    notes       sentences about what the search does not cover
    made_s      when the search ended, in seconds of this process's monotonic clock
    """

    topics: tuple[TopicFinding, ...] = ()
    of_keys: Matches = field(default_factory=Matches)
    of_records: Matches = field(default_factory=Matches)
    by_text: Matches = field(default_factory=Matches)
    internal: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    made_s: float = field(default_factory=monotonic, compare=False)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was found that an erasure could remove."""
        return not (
            any(each.records or each.alike for each in self.topics)
            or self.of_keys
            or self.of_records
            or self.by_text
        )

    def chosen(self, choice: ErasureChoice) -> Matches:
        """Return the dead letters, stored values and audit entries that an erasure with this choice
        removes.
        """
        found = self.of_keys
        if choice.delete_records:
            found += self.of_records
        return found + self.by_text if choice.by_text else found

    def changes_nothing(self, choice: ErasureChoice) -> bool:
        """Return whether an erasure with this choice would change nothing."""
        topics = any(
            each.records and (each.compacted or choice.delete_records) for each in self.topics
        )
        return not (topics or self.chosen(choice))


def _joined(
    first: dict[str, tuple[str, ...]], second: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    names = sorted({*first, *second})
    return {each: first.get(each, ()) + second.get(each, ()) for each in names}

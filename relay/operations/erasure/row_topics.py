"""Topics of rows: finds the records of the keys, and the tombstones that make Kafka remove them."""

from collections.abc import Iterable
from typing import Final

from relay.envelope import Claim, Header, parse_claim
from relay.kafka import ScannedRecord, Tombstone, TopicAdmin, TopicState, scan_topic
from relay.operations.erasure.last_records import is_delete
from relay.operations.erasure.needles import Needles
from relay.operations.erasure.plan import TopicFinding
from relay.settings import KafkaSettings

CLAIM: Final = "claim"
_KEPT: Final = (Header.ORDER.value, Header.TAG.value)
"""Headers that a tombstone copies from the record that it deletes. They contain no value of the
row.
"""
_LONGEST_LAG: Final = 2**63 - 1
"""Value of Kafka's `max.compaction.lag.ms` that means: no limit."""


class _Found:
    """Collects the matches of one topic while its records are read in the order of their
    offsets.
    """

    def __init__(self, needles: Needles) -> None:
        self._needles = needles
        self.newest: dict[tuple[int, bytes], Tombstone | None] = {}
        self.rows: set[tuple[int, bytes]] = set()
        self.last: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.alike: set[str] = set()
        self.claims: list[Claim] = []
        self.records = self.others = 0

    def take(self, record: ScannedRecord) -> None:
        """Add the matches of one record."""
        key, needles = record.key, self._needles
        self.ends[record.partition] = record.offset + 1
        if key is not None and record.value is not None and needles.is_alike(key):
            self.alike.add(key.decode("utf-8", "replace"))
        if key is not None and key in needles.keys:
            self._note_newest(record, key)
            if record.value is not None:
                self.records += 1
                self.last[record.partition] = record.offset + 1
                self.claims += _claims(record)
        elif needles.in_any(key, record.value, *(value for _, value in record.headers)):
            self.others += 1

    def _note_newest(self, record: ScannedRecord, key: bytes) -> None:
        at = record.partition, key
        self.newest[at] = _tombstone(record, key)
        if record.value is None or is_delete(record.value):
            self.rows.discard(at)
        else:
            self.rows.add(at)


def find_in_topic(
    kafka: KafkaSettings, state: TopicState, needles: Needles
) -> tuple[TopicFinding, tuple[Claim, ...]]:
    """Return what was found in a topic, and the claim checks of the records with the keys."""
    found = _Found(needles)
    for each in scan_topic(kafka, state.name, state.partitions):
        found.take(each)
    finding = TopicFinding(
        state.name,
        "compact" in state.settings.get("cleanup.policy", ""),
        _bound(state),
        found.records,
        found.last,
        tuple(each for each in found.newest.values() if each is not None),
        found.others,
        sum(found.last.values()) - found.records,
        tuple(sorted(found.alike)),
        found.ends,
        len(found.rows),
    )
    return finding, tuple(found.claims)


def known_topics(admin: TopicAdmin, named: Iterable[str]) -> list[TopicState]:
    """Return the state of the named topics and of their topics of statements, if they exist in the
    cluster.
    """
    there = admin.partition_counts()
    wanted = sorted({form for each in named for form in (each, f"{each}.ddl")})
    states = [admin.state(each) for each in wanted if each in there]
    return [each for each in states if each is not None]


def _tombstone(record: ScannedRecord, key: bytes) -> Tombstone | None:
    """Return the tombstone that deletes a record; None for a record without a value."""
    if record.value is None:
        return None
    told = tuple(each for each in record.headers if each[0] in _KEPT)
    return Tombstone(record.partition, key, told)


def _claims(record: ScannedRecord) -> list[Claim]:
    found = []
    for name, value in record.headers:
        if name == CLAIM:
            try:
                found.append(parse_claim(value))
            except ValueError:
                continue  # another program's header of this name
    return found


def _bound(state: TopicState) -> int | None:
    """Return the longest time for which a compacted topic keeps a record after a newer one of its
    key.
    """
    lag = int(state.settings.get("max.compaction.lag.ms", _LONGEST_LAG))
    return None if lag >= _LONGEST_LAG else lag

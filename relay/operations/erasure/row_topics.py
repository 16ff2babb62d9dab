"""Topics of rows: find records of the keys, and write the tombstones that make Kafka remove
them.
"""

from collections.abc import Iterable
from typing import Final

from relay.envelope import Claim, Header, parse_claim
from relay.kafka import ScannedRecord, Tombstone, TopicAdmin, TopicState, scan_topic
from relay.operations.erasure.needles import Needles
from relay.operations.erasure.plan import TopicFinding
from relay.settings import KafkaSettings

CLAIM: Final = "claim"
_KEPT: Final = (Header.ORDER.value, Header.TAG.value)
"""Headers that a tombstone has from the record that it deletes. They hold no value of the row."""
_LONGEST_LAG: Final = 2**63 - 1
"""Kafka's `max.compaction.lag.ms` that means: no bound."""


def find_in_topic(
    kafka: KafkaSettings, state: TopicState, needles: Needles
) -> tuple[TopicFinding, tuple[Claim, ...]]:
    """Return the findings in a topic, and the claims of the records with these keys."""
    newest: dict[tuple[int, bytes], Tombstone | None] = {}
    last: dict[int, int] = {}
    claims: list[Claim] = []
    records = others = 0
    for each in scan_topic(kafka, state.name, state.partitions):
        if each.key in needles.keys and each.key is not None:
            newest[each.partition, each.key] = _tombstone(each, each.key)
            if each.value is not None:
                records += 1
                last[each.partition] = each.offset + 1
                claims += _claims(each)
        elif needles.in_any(each.key, each.value, *(value for _, value in each.headers)):
            others += 1
    finding = TopicFinding(
        state.name,
        "compact" in state.settings.get("cleanup.policy", ""),
        _bound(state),
        records,
        last,
        tuple(each for each in newest.values() if each is not None),
        others,
        sum(last.values()) - records,
    )
    return finding, tuple(claims)


def known_topics(admin: TopicAdmin, named: Iterable[str]) -> list[TopicState]:
    """Return the named topics and their topics of statements that the cluster has."""
    there = admin.partition_counts()
    wanted = sorted({form for each in named for form in (each, f"{each}.ddl")})
    states = [admin.state(each) for each in wanted if each in there]
    return [each for each in states if each is not None]


def _tombstone(record: ScannedRecord, key: bytes) -> Tombstone | None:
    """Return what deletes a record; None for one without a value."""
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
    """Return the longest time that a compacted topic keeps a record that has a newer one."""
    lag = int(state.settings.get("max.compaction.lag.ms", _LONGEST_LAG))
    return None if lag >= _LONGEST_LAG else lag

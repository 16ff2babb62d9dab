"""Restores topic settings that an interrupted erasure left changed."""

from typing import Final

from relay.audit import AuditEntry, AuditTrail
from relay.dead_letters import letters_prefix
from relay.kafka import AT_ONCE, SEGMENT_MS, SegmentSetting, TopicAdmin
from relay.settings import RelaySettings
from relay.state import ErasureTurn

PUT_BACK: Final = "erasure.settings_put_back"


def put_back_settings(settings: RelaySettings, turn: ErasureTurn, actor: str) -> tuple[str, ...]:
    """Restore `segment.ms` of the topics in which an erasure changed it, and return their names.
    `turn` proves that the caller alone may erase now. `actor` is the name for the audit trail.

    If ZooKeeper lost the record of a topic that still has the temporary value, the topic gets the
    broker's value. A topic that was deleted or now has another value is not changed. The audit
    entry is written first, so a repeated call may write it again. Raises StoreUnreachable,
    BrokerUnreachable, KafkaNotPermitted.
    """
    trail = AuditTrail(settings.kafka, settings.installation)
    letters = letters_prefix(settings.installation)
    noted = turn.noted()
    there = [
        each
        for each in TopicAdmin(settings.kafka).partition_counts()
        if each in noted or each == trail.topic or each.startswith(letters)
    ]
    segments = SegmentSetting(settings.kafka)
    values = segments.owned(sorted(there)) if there else {}
    left = {each: noted.get(each) for each, value in values.items() if value == AT_ONCE}
    if left:
        before = {each: {SEGMENT_MS: AT_ONCE} for each in left}
        after = {each: {SEGMENT_MS: own} for each, own in left.items()}
        turn.check()
        trail.append(AuditEntry(actor, PUT_BACK, "", before, after))
    for topic, own in left.items():
        segments.write(topic, own)
    for topic in noted:
        turn.restored(topic)
    return tuple(left)

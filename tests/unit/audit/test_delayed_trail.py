"""Entries wait for Kafka in their order, and what Kafka never took is in the log."""

from structlog.testing import capture_logs

from relay.audit import AuditEntry, AuditTrail, DelayedTrail
from relay.errors import BrokerUnreachable
from tests.support.waiting import wait_until


class Trail(AuditTrail):
    def __init__(self, away: int) -> None:
        self.away = away
        self.taken: list[str] = []

    def append(self, entry: AuditEntry) -> None:
        if self.away > 0:
            self.away -= 1
            raise BrokerUnreachable("away")
        self.taken.append(entry.act)


def test_entries_are_taken_in_order_once_kafka_is_there() -> None:
    trail = Trail(away=1)
    delayed = DelayedTrail(trail)
    for number in range(5):
        delayed.note(AuditEntry("ann", f"act-{number}"))
    wait_until(lambda: len(trail.taken) == 5, "the entries")
    delayed.close(1)
    assert trail.taken == [f"act-{number}" for number in range(5)]


def test_what_kafka_never_takes_is_logged() -> None:
    delayed = DelayedTrail(Trail(away=10_000))
    with capture_logs() as logs:
        delayed.note(AuditEntry("ann", "mapping.saved", "", {"set": 1}, {"set": 2}, "why"))
        delayed.close(0.1)
    (lost,) = [each for each in logs if each["event"] == "audit_entry_not_in_kafka"]
    assert (lost["actor"], lost["act"], lost["after"], lost["comment"]) == (
        "ann",
        "mapping.saved",
        {"set": 2},
        "why",
    )


def test_the_queue_is_bounded() -> None:
    delayed = DelayedTrail(Trail(away=10_000))
    with capture_logs() as logs:
        for _ in range(1005):
            delayed.note(AuditEntry("ann", "x"))
        assert sum(each["event"] == "audit_entry_not_in_kafka" for each in logs) in (4, 5)
    delayed.close(0)

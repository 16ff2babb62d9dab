"""Which statuses a relay writes: changes of state at once, figures in turn."""

from collections import Counter
from dataclasses import replace
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from relay.app.status_writes import ALWAYS_WRITTEN, MOST_SECONDS, StatusWrites
from relay.state import InstanceStatus


def running(number: int) -> InstanceStatus:
    return InstanceStatus(f"shop-{number:03}", "RUNNING", relay="r1", epoch=1)


@given(st.integers(1, 60))
def test_each_status_is_written_once_in_five_refreshes(count: int) -> None:
    statuses, writes = [running(number) for number in range(count)], StatusWrites({})
    first = writes.chosen(statuses)
    assert first == statuses, "a new instance is written at once"
    writes = writes.after(statuses, first)
    written: Counter[str] = Counter()
    for _ in range(MOST_SECONDS):
        chosen = writes.chosen(statuses)
        assert len(chosen) == min(count, max(ALWAYS_WRITTEN, ceil(count / MOST_SECONDS)))
        written.update(each.name for each in chosen)
        writes = writes.after(statuses, chosen)
    assert set(written) == {each.name for each in statuses}


def test_a_change_of_state_is_written_at_once() -> None:
    statuses = [running(number) for number in range(100)]
    writes = StatusWrites({}).after(statuses, statuses)
    changed = [*statuses[:-1], replace(statuses[-1], state="WAITING", code="KAFKA_UNREACHABLE")]
    assert writes.chosen(changed)[0] == changed[-1]


def test_a_spool_and_a_copy_that_begin_are_written_at_once() -> None:
    """An erasure is refused or warned by them."""
    statuses = [running(number) for number in range(100)]
    writes = StatusWrites({}).after(statuses, statuses)
    began = [
        replace(statuses[0], spool="filling", spool_bytes=1),
        replace(statuses[1], snapshot={"id": "1"}),
    ]
    assert writes.chosen([*began, *statuses[2:]])[:2] == began


def test_a_write_that_failed_is_repeated() -> None:
    statuses = [running(number) for number in range(100)]
    writes = StatusWrites({}).after(statuses, statuses[:50])
    assert writes.chosen(statuses)[:50] == statuses[50:]


def test_an_instance_that_was_led_by_another_relay_is_written_at_once() -> None:
    statuses = [running(number) for number in range(100)]
    writes = StatusWrites({}).after(statuses, statuses)
    writes = writes.after(statuses[:-1], [])
    assert writes.chosen(statuses)[0] == statuses[-1]

"""A restore never activates a former number of a mapping set, and overwrites no set."""

from collections.abc import Mapping

import pytest

from relay.state import Backup, Note
from relay.state.mappings.records import Pointer, SetRecord, StoredDocument
from relay.state.mappings.restored_mapping import active_number, active_set

POINTER = "mappings/pointer"


def sets(*bodies: str, number: int | None = None) -> dict[str, bytes]:
    """The nodes after each of these texts was saved as the document `t`; `number` is active."""
    nodes = {}
    for at, body in enumerate(bodies, 1):
        document, record = StoredDocument("t", at, body, Note()), SetRecord(at, {"t": at}, Note())
        nodes[f"mappings/documents/t/{at:010}"] = document.to_document()
        nodes[f"mappings/sets/{at:010}"] = record.to_document()
    return {**nodes, POINTER: Pointer(number or len(bodies), None).to_document()}


def changes(then: Mapping[str, bytes], now: Mapping[str, bytes]) -> tuple[set[str], object]:
    found = Backup("prod", 1, then).changes(now)
    assert set(found.missing).isdisjoint(now), "nothing is overwritten"
    assert set(found.differ) <= {POINTER}
    return set(found.to_write), found.new_set


def test_an_older_set_comes_into_force_under_a_new_number() -> None:
    assert changes(sets("A"), sets("A", "B")) == ({POINTER}, {"t": "A"})


def test_the_same_contents_under_another_number_change_nothing() -> None:
    assert changes(sets("A"), sets("A", "B", "A")) == (set(), None)
    assert changes(sets("A", "B"), sets("A", "B")) == (set(), None)


def test_former_sets_come_back_where_the_numbers_agree() -> None:
    then = sets("A", "B", "C")
    written, bodies = changes(then, sets("A"))
    assert written == then.keys() - sets("A").keys() | {POINTER}
    assert bodies == {"t": "C"}


def test_another_history_of_the_same_numbers_stays() -> None:
    assert changes(sets("A", "B", "C"), sets("A", "X")) == ({POINTER}, {"t": "C"})


def test_an_empty_zookeeper_gets_the_sets_as_they_were() -> None:
    then = sets("A", "B")
    assert changes(then, {"placement": b"{}"}) == (set(then), None)


@pytest.mark.parametrize("pointer", [None, b"no number", b"7"])
def test_a_damaged_present_pointer_is_replaced(pointer: bytes | None) -> None:
    now = sets("A")
    del now[POINTER]
    if pointer is not None:
        now[POINTER] = pointer
    written, bodies = changes(sets("A"), now)
    assert (written, bodies) == ({POINTER}, {"t": "A"})


def test_a_damaged_backup_does_not_replace_a_good_set() -> None:
    then = sets("A", number=9)
    assert active_set(then) is None
    assert changes(then, sets("A", "B")) == (set(), None)
    assert (active_number(then), active_number({})) == (9, 0)

"""Readers of topics are bounded, in all and for one caller."""

import pytest

from api.errors import PeeksBusy
from api.services.peek.slots import MOST_OF_A_CALLER, MOST_PEEKS, PeekSlots


def test_one_caller_keeps_no_other_out() -> None:
    slots = PeekSlots()
    own = [slots.take("ann") for _ in range(MOST_OF_A_CALLER)]
    with pytest.raises(PeeksBusy, match="ann already has 4 open readers"):
        slots.take("ann")
    slots.take("bob")
    own[0]()
    slots.take("ann")


def test_all_callers_together_are_bounded() -> None:
    slots = PeekSlots()
    taken = [slots.take(f"user-{number}") for number in range(MOST_PEEKS)]
    with pytest.raises(PeeksBusy, match="This admin already has"):
        slots.take("ann")
    for give_back in taken:
        give_back()
    for number in range(MOST_PEEKS):
        slots.take(f"other-{number}")


def test_callers_without_a_name_are_one() -> None:
    slots = PeekSlots()
    for _ in range(MOST_OF_A_CALLER):
        slots.take("")
    with pytest.raises(PeeksBusy, match="A caller without a name"):
        slots.take("")

"""What the fault harness counts: it must see every loss, repeat and step back, or its noughts say
nothing.
"""

from hypothesis import given
from hypothesis import strategies as st

from tools.faults.reading.tally import Counts, Tally

HELD = {1: 2, 2: 1}  # row 1 was changed three times, row 2 twice
ALL = [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]


def counted(
    seen: list[tuple[int, int]], before: int | None = None, held: dict[int, int] = HELD
) -> Counts:
    tally = Tally(before)
    for number, (key, n) in enumerate(seen):
        tally.see(key, n, key % 4, f"{number:04}")
    return tally.against(held)


def test_everything_once_and_in_order_is_clean() -> None:
    assert counted(ALL) == Counts(5, 0, 0, 0)
    assert counted(ALL).clean


def test_what_never_came_is_lost() -> None:
    assert counted(ALL[:-1]) == Counts(4, 1, 0, 0)
    assert counted([each for each in ALL if each != (1, 1)]) == Counts(4, 1, 0, 0)
    assert counted([each for each in ALL if each[0] == 1]) == Counts(3, 2, 0, 0)


def test_what_came_again_is_repeated() -> None:
    assert counted([*ALL, (1, 0)]) == Counts(6, 0, 1, 0)
    assert counted([*ALL, (1, 2)]) == Counts(6, 0, 1, 0)


def test_what_the_source_does_not_hold_is_counted() -> None:
    assert counted([*ALL, (1, 3)]) == Counts(6, 0, 1, 0)
    assert counted([*ALL, (9, 0)]) == Counts(6, 0, 1, 0)


def test_what_came_behind_a_newer_one_is_out_of_order_and_not_lost() -> None:
    assert counted([(1, 1), (1, 0), (2, 0), (2, 1), (1, 2)]) == Counts(5, 0, 0, 1)


def test_an_order_that_does_not_rise_within_a_partition_shows() -> None:
    tally = Tally()
    tally.see(1, 0, 0, "0002")
    tally.see(1, 1, 0, "0001")
    tally.see(1, 2, 1, "0001")
    assert tally.against({1: 2}) == Counts(3, 0, 0, 1)


def test_a_topic_made_anew_must_go_on_where_the_other_one_ended() -> None:
    assert counted(ALL[2:], before=2).clean
    assert counted(ALL[3:], before=2) == Counts(2, 1, 0, 0)
    assert counted(ALL[1:], before=2) == Counts(4, 0, 1, 0)
    assert counted([(1, 2)], before=4).clean


@given(st.lists(st.integers(1, 5), max_size=60), st.data())
def test_every_single_loss_and_repeat_of_any_stream_is_found(
    keys: list[int], data: st.DataObject
) -> None:
    held: dict[int, int] = {}
    stream = []
    for key in keys:
        held[key] = held.get(key, -1) + 1
        stream.append((key, held[key]))
    assert counted(stream, held=held).clean
    if stream:
        at = data.draw(st.integers(0, len(stream) - 1))
        assert counted(stream[:at] + stream[at + 1 :], held=held).lost == 1
        assert counted([*stream, stream[at]], held=held).repeated == 1


def dropping(seen: list[tuple[int, int, str]]) -> tuple[Counts, int]:
    tally = Tally(drops_repeats=True)
    for key, n, order in seen:
        tally.see(key, n, 0, order)
    return tally.against({1: 2}), tally.dropped


def test_a_repeat_under_its_own_order_can_be_dropped() -> None:
    once = [(1, 0, "1"), (1, 1, "2"), (1, 2, "3")]
    assert dropping(once) == (Counts(3, 0, 0, 0), 0)
    assert dropping([*once, *once]) == (Counts(3, 0, 0, 0), 3)
    assert dropping([*once[:2], *once]) == (Counts(3, 0, 0, 0), 2)


def test_a_repeat_under_another_order_shows() -> None:
    counts, dropped = dropping([(1, 0, "1"), (1, 1, "2"), (1, 0, "3"), (1, 2, "4")])
    assert (counts, dropped) == (Counts(4, 0, 1, 0), 0)


def test_dropping_repeats_hides_no_loss_and_no_step_back() -> None:
    assert dropping([(1, 0, "1"), (1, 2, "3"), (1, 2, "3")]) == (Counts(2, 1, 0, 0), 1)
    assert dropping([(1, 0, "1"), (1, 2, "3"), (1, 1, "2"), (1, 1, "2")]) == (Counts(3, 0, 0, 2), 1)

"""Which binlog file holds a time: few are opened, and none too new is taken."""

from hypothesis import given
from hypothesis import strategies as st

from relay.source.positions.time_search import last_file_before


def _found(created_s: list[int], time_ms: int) -> tuple[int | None, int]:
    """The index of the file, and how many were opened."""
    opened: list[str] = []

    def look(file: str) -> int:
        if file not in opened:
            opened.append(file)
        return created_s[int(file)]

    file = last_file_before([str(number) for number in range(len(created_s))], look, time_ms)
    return None if file is None else int(file), len(opened)


def test_a_search_over_200_files_opens_at_most_9() -> None:
    created_s = [1000 + 10 * number for number in range(200)]
    for time_ms in range(1_000_000, 3_000_000, 997):
        index, opened = _found(created_s, time_ms)
        assert opened <= 9
        assert index == max(0, (time_ms // 1000 - 1001) // 10)


def test_a_file_of_the_same_second_may_be_younger() -> None:
    assert _found([100, 200, 300], 200_999)[0] == 0
    assert _found([100, 200, 300], 201_000)[0] == 1
    assert _found([100, 200, 300], 10**9)[0] == 2


def test_a_time_before_the_oldest_file_is_nowhere() -> None:
    assert _found([100, 200], 99_999)[0] is None
    assert _found([100, 200], 100_000)[0] == 0, "the oldest file's own second is still in it"


@given(st.lists(st.integers(0, 60), min_size=1, max_size=40), st.integers(0, 70_000))
def test_the_binary_search_finds_what_a_look_at_all_files_would(
    times: list[int], time_ms: int
) -> None:
    created_s = sorted(times)
    before = [index for index, second in enumerate(created_s) if second < time_ms // 1000]
    expected = before[-1] if before else 0 if created_s[0] == time_ms // 1000 else None
    assert _found(created_s, time_ms)[0] == expected

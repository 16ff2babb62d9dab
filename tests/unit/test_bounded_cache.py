"""The bounded dictionary drops what was not used for the longest time, and nothing else."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from relay.bounded_cache import BoundedCache

STEPS = st.lists(st.tuples(st.sampled_from(["get", "put", "pop"]), st.integers(0, 5)), max_size=40)


@given(st.integers(1, 4), STEPS)
def test_it_keeps_the_entries_that_were_used_last(
    size: int, steps: Sequence[tuple[str, int]]
) -> None:
    cache = BoundedCache[int, int](size)
    used: list[tuple[int, int]] = []
    for number, (step, key) in enumerate(steps):
        entry = next((entry for kept, entry in used if kept == key), None)
        if step == "put":
            cache.put(key, number)
            entry = number
        else:
            assert (cache.get(key) if step == "get" else cache.pop(key)) == entry
        used = [each for each in used if each[0] != key]
        if entry is not None and step != "pop":
            used.append((key, entry))
        used = used[-size:]
        assert len(cache) == len(used)
        assert [kept in cache for kept in range(6)] == [
            any(key == kept for key, _ in used) for kept in range(6)
        ]

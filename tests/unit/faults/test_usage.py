"""Whether a process grows is judged from its samples alone."""

from tools.faults.usage import usage_of

MEGABYTE = 1_000_000.0


def test_what_stays_is_flat_and_warming_up_does_not_count() -> None:
    assert usage_of([10 * MEGABYTE] * 5 + [100 * MEGABYTE] * 15, [20.0] * 20).flat


def test_memory_or_files_that_grow_are_told() -> None:
    growing = usage_of([each * 4 * MEGABYTE for each in range(20)], [20.0] * 20)
    assert not growing.flat
    assert "GROWING" in str(growing)
    assert not usage_of([100 * MEGABYTE] * 20, [20.0 + each for each in range(20)]).flat


def test_one_sample_is_enough_to_say_something() -> None:
    assert usage_of([1.0], [1.0]).flat

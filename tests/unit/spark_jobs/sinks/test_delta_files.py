"""Files are left out only where their bounds say that they hold none of the keys."""

from collections.abc import Sequence

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.sinks.delta_lake.files import KeyRange, bounds, meets, share, spanned

_CUT = 3
# Delta appends it to a greatest text that it cut, and this one where the text goes on with a
# character above it.
_ABOVE, _ABOVE_ALL = "\ufffd", "\U0010ffff"
keys = st.text(st.sampled_from(["0", "1", "9", "a", "é", "\ue000", "\U0001f600"]), max_size=5)
ranges = st.lists(st.tuples(keys, keys).map(lambda pair: (min(pair), max(pair))), max_size=4)


def statistics(held: Sequence[str], column: str = "col-1") -> str:
    """What Delta writes of a file with these keys, its texts cut short."""
    least, greatest = min(held), max(held)
    above = _ABOVE if greatest[_CUT : _CUT + 1] <= _ABOVE else _ABOVE_ALL
    told = {
        "minValues": {column: least[:_CUT]},
        "maxValues": {column: greatest[:_CUT] + (above if len(greatest) > _CUT else "")},
    }
    return orjson.dumps({"numRecords": len(held), **told}).decode()


@given(st.lists(keys, min_size=1), ranges)
def test_no_file_is_left_out_that_holds_a_key_of_the_ranges(
    held: list[str], sought: list[KeyRange]
) -> None:
    if any(first <= key <= last for key in held for first, last in sought):
        assert meets(bounds(statistics(held), "col-1"), sought)


def test_a_file_beside_the_ranges_is_left_out() -> None:
    held = bounds(statistics(["b1", "b7"]), "col-1")
    assert held == ("b1", "b7")
    assert not meets(held, [("a", "b"), ("b8", "z")])
    assert meets(held, [("a", "b"), ("b7", "z")])


@pytest.mark.parametrize(
    "told",
    [None, "", "{}", '{"numRecords":3}', '{"minValues":{"col-2":"a"},"maxValues":{"col-2":"b"}}'],
)
def test_a_file_that_tells_nothing_is_read(told: str | None) -> None:
    assert bounds(told, "col-1") is None
    assert meets(None, [("a", "b")])


def test_a_span_is_known_where_every_file_tells_its_bounds() -> None:
    assert spanned([("b", "d"), ("a", "c")]) == ("a", "d")
    assert spanned([("b", "d"), None]) is None
    assert spanned([]) is None


def _key(number: int) -> str:
    return f'["shop.orders","{number}"]'


def _ranges(numbers: Sequence[int]) -> list[KeyRange]:
    """Eight ranges that cover the keys, as of a batch."""
    found = sorted(map(_key, numbers))
    size = max(len(found) // 8, 1)
    return [(found[at], found[min(at + size, len(found)) - 1]) for at in range(0, len(found), size)]


def test_keys_at_random_cover_the_span_and_recent_ones_little_of_it() -> None:
    span = (_key(0), _key(9_999_999))
    at_random = [number * 7_919 % 10_000_000 for number in range(5_000)]
    recent = [9_800_000 + number * 37 % 200_000 for number in range(5_000)]
    assert share(_ranges(at_random), span) > 0.9
    assert share(_ranges(recent), span) < 0.1


@given(ranges, st.tuples(keys, keys).map(lambda pair: (min(pair), max(pair))))
def test_a_share_of_ranges_that_do_not_overlap_is_between_none_and_all(
    sought: list[KeyRange], span: KeyRange
) -> None:
    apart: list[KeyRange] = []
    for first, last in sorted(sought):
        if not apart or apart[-1][1] < first:
            apart.append((first, last))
    assert 0 <= share(apart, span) <= 1
    assert share([span], span) in (0, 1)

"""A fingerprint is found where it is, or not at all: whatever the transactions look like, and
however far the other server is.
"""

from dataclasses import replace
from hashlib import blake2b
from typing import Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.model.records.resume_fingerprint import (
    LandmarkSearch,
    ResumeFingerprint,
    Sighting,
    Sought,
)
from relay.model.records.transaction_digest import Digested
from tests.support.examples import examples

_SKEW_S: Final = 2
_START_S: Final = 1000


class Logged(NamedTuple):
    """A transaction as two servers log it, and the relay's clock when it read it."""

    content: str
    second: int
    clock_s: int

    @property
    def digested(self) -> Digested:
        return Digested(
            blake2b(f"{self.content} {self.second}".encode(), digest_size=16).digest(), self.second
        )


def stream(text: str) -> list[Logged]:
    """`a1 b2` is a transaction "a" in second 1 and "b" in second 2, read at once.

    The relay began in second 0.
    """
    newest, read = _START_S, []
    for word in text.split():
        newest = max(newest, _START_S + int(word[1:]))
        read.append(Logged(word[0], _START_S + int(word[1:]), newest))
    return read


def place_behind(published: list[Logged], begun_s: int = _START_S) -> ResumeFingerprint:
    fingerprint = ResumeFingerprint(begun_s)
    for each in published:
        fingerprint = fingerprint.behind(each.digested, each.clock_s + _SKEW_S)
    return fingerprint


def end_of(number: int) -> SourcePosition:
    return SourcePosition(BinlogPosition("b.000001", number), "", SourceIdentity("", 2, 0))


def sought(
    fingerprint: ResumeFingerprint,
    binlog: list[Logged],
    start: int = 0,
    *,
    needs_before: bool = False,
) -> Sought:
    search = LandmarkSearch(fingerprint, needs_before=needs_before)
    for number, each in enumerate(binlog[start:], start + 1):
        search.take(each.digested, end_of(number))
    return search.sought


def test_a_place_is_counted_from_the_newest_second() -> None:
    binlog = stream("a1 b1 a2 b2 a2 b2 a2")
    assert sought(place_behind(binlog[:5]), binlog) == Sought(Sighting.FOUND, end_of(5))
    assert sought(place_behind(binlog[:3]), binlog) == Sought(Sighting.FOUND, end_of(3))


def test_who_lags_among_twins_lacks_what_it_lacks() -> None:
    binlog = stream("a1 b1 a2 b2 a2 b2 a2 b2")
    assert sought(place_behind(binlog), binlog[:6]) == Sought(Sighting.MISSING, lacking=2)
    assert sought(place_behind(binlog), binlog[:2]) == Sought(Sighting.MISSING, lacking=6)
    assert sought(place_behind(binlog), []) == Sought(Sighting.MISSING, lacking=6)


def test_another_transaction_at_its_place_is_told() -> None:
    binlog = stream("a1 b1 a2 b2 c2")
    assert sought(place_behind(binlog), [*binlog[:4], *stream("d2 c2")]) == Sought(Sighting.OTHER)


def test_two_that_could_be_it_are_not_guessed_between() -> None:
    binlog = stream("a1 a2 b2")
    twice = [*binlog, *binlog]
    assert sought(place_behind(binlog), twice).sighting is Sighting.SEVERAL
    search = LandmarkSearch(place_behind(binlog), needs_before=False)
    for number, each in enumerate([*binlog, *stream("c60")]):
        search.take(each.digested, end_of(number))
        assert not search.enough
    search.take(stream("c63")[0].digested, end_of(9))
    assert search.enough


def test_where_nothing_proves_that_the_landmark_comes_behind_the_one_before_it_does() -> None:
    binlog = stream("a1 b1 a2 b2 a2 b2")
    assert sought(place_behind(binlog), binlog, 2).sighting is Sighting.FOUND
    assert sought(place_behind(binlog), binlog, 2, needs_before=True).sighting is Sighting.UNPROVEN
    assert sought(place_behind(binlog), binlog, 1, needs_before=True).sighting is Sighting.FOUND
    assert sought(place_behind(binlog), binlog[:1], needs_before=True) == Sought(
        Sighting.MISSING, lacking=4
    )


def test_a_landmark_that_nothing_proves_is_not_called_missing() -> None:
    """The binlog begins with it; or an older release knew none before it."""
    binlog = stream("a1 b1 a2 b2")
    fingerprint = place_behind(binlog)
    assert sought(fingerprint, binlog, 2, needs_before=True) == Sought(Sighting.UNPROVEN)
    assert fingerprint.landmark is not None
    older = replace(fingerprint, landmark=replace(fingerprint.landmark, before=""))
    assert sought(older, binlog) == Sought(Sighting.FOUND, end_of(4))
    assert sought(older, binlog, needs_before=True) == Sought(Sighting.UNPROVEN)
    assert sought(older, binlog[:3], needs_before=True) == Sought(Sighting.UNPROVEN)


def test_the_first_transaction_that_is_read_is_no_landmark() -> None:
    """The relay began behind the first of two alike, its clock three seconds behind: a standby that
    has only that one lacks one.
    """
    binlog = stream("a0 a0 b1")
    fingerprint = place_behind(binlog[1:2], _START_S - 3)
    assert (fingerprint.landmark, fingerprint.newest_s) == (None, _START_S)
    assert fingerprint.behind(binlog[2].digested, _START_S + _SKEW_S).landmark is not None


def test_a_twin_behind_another_twin_is_not_taken_for_the_first_landmark() -> None:
    """The second "b" waited for a lock. What would be found there leaves out what lies between."""
    binlog = stream("a1 b1 a2 b1 a2")
    search = LandmarkSearch(place_behind(binlog[:3]), needs_before=True)
    for number, each in enumerate(binlog[2:]):
        search.take(each.digested, end_of(number))
        assert search.enough
    assert search.sought == Sought(Sighting.UNPROVEN)


def test_without_a_later_second_there_is_no_landmark() -> None:
    fingerprint = place_behind(stream("a0 b0 a0"))
    assert (fingerprint.landmark, fingerprint.count) == (None, 0)
    with pytest.raises(ValueError, match="nothing to look for"):
        LandmarkSearch(fingerprint, needs_before=False)


def test_a_second_of_the_future_is_no_landmark_when_it_comes() -> None:
    ahead = Logged("a", _START_S + 50, _START_S + 1)
    fingerprint = place_behind([ahead])
    assert (fingerprint.newest_s, fingerprint.ahead, fingerprint.landmark) == (
        _START_S,
        (_START_S + 50,),
        None,
    )
    then = fingerprint.behind(Logged("a", _START_S + 50, 0).digested, _START_S + 52)
    assert (then.newest_s, then.ahead, then.landmark) == (_START_S + 50, (), None)
    later = then.behind(Logged("a", _START_S + 51, 0).digested, _START_S + 52)
    assert later.landmark is not None
    assert later.landmark.second == _START_S + 51


def test_seconds_of_the_future_take_bounded_room() -> None:
    fingerprint = place_behind(
        [Logged("a", _START_S + 100 + number, _START_S) for number in range(150)]
    )
    assert (fingerprint.newest_s, len(fingerprint.ahead)) == (_START_S + 149, 100)


transactions = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from((0, 0, 0, 1)),
    st.sampled_from((0, 0, 0, -1, -2, 1, 2, 3, 5)),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Logged]:
    """Transactions of two kinds in few seconds.

    Some have an earlier or later SET TIMESTAMP, also beyond the accepted clock skew.
    """
    clock_s, history = _START_S, []
    for content, later_s, dated_s in draw(st.lists(transactions, min_size=1, max_size=24)):
        clock_s += later_s
        history.append(Logged(content, clock_s + dated_s, clock_s))
    return history


@settings(max_examples=examples(400))
@given(histories(), st.data())
def test_no_history_leads_to_a_wrong_place(history: list[Logged], data: st.DataObject) -> None:
    published = data.draw(st.integers(1, len(history)))
    applied = data.draw(st.integers(0, len(history)))
    fingerprint = place_behind(history[:published])
    if fingerprint.landmark is None:
        return
    start, needs_before = (
        data.draw(st.integers(0, published - fingerprint.count - 1)),
        data.draw(st.booleans()),
    )
    found = sought(fingerprint, history[:applied], start, needs_before=needs_before)
    unproven = {Sighting.UNPROVEN} if needs_before else set()
    if found.sighting is Sighting.FOUND:
        assert found.position == end_of(published)
    if applied >= published:
        assert found.sighting in {Sighting.FOUND, Sighting.SEVERAL} | unproven
    else:
        assert found.sighting in {Sighting.MISSING} | unproven

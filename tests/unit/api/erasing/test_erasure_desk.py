"""Searches and erasures of the admin: one at a time, and nothing of the person stays in memory."""

import threading
from collections.abc import Callable, Iterable

import pytest

from api.errors import BadRequest, NoSuchThing
from api.models.values.erasure import ErasureOrder, ErasureState, ErasureView, ErasureWish
from api.services.erasure_desk import KEPT_SECONDS, ErasureDesk
from relay.errors import BrokerUnreachable, ErasureRefused
from relay.kafka import Tombstone
from relay.operations import FRESH_SECONDS, ErasureChoice, ErasurePlan, Needles, Who
from relay.operations.erasure.plan import Matches, TopicFinding
from tests.support.waiting import wait_until

WISH = ErasureWish(keys=['["shop.client","7"]'], texts=["Jane Roe"])
PLAN = ErasurePlan(
    (
        TopicFinding(
            "people",
            compacted=True,
            bound_ms=None,
            records=2,
            tombstones=(Tombstone(0, b"k"),),
        ),
    ),
    by_text=Matches({"shop": ("0001-0",)}),
)
ORDER = ErasureOrder(confirm="roma", by_text=True)
ANN = Who("ann", "request 12")
NOTHING = ErasureChoice()


class Stores:
    """Stores that wait where a test holds them, and that may fail."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.fails: Exception | None = None
        self.found = PLAN
        self.erased: list[tuple[ErasurePlan, Who, ErasureChoice]] = []

    def make(self, _: Needles, topics: Iterable[str], told: Callable[[str], object]) -> "Stores":
        assert list(topics) == []
        self.told = told
        return self

    def plan(self) -> ErasurePlan:
        self._step("reading people")
        return self.found

    def erase(self, plan: ErasurePlan, who: Who, choice: ErasureChoice) -> None:
        self.erased.append((plan, who, choice))
        self._step("rewriting dead letters")

    def _step(self, text: str) -> None:
        self.told(text)
        assert self.goes_on.wait(20)
        if self.fails is not None:
            raise self.fails


@pytest.fixture
def stores() -> Stores:
    return Stores()


@pytest.fixture
def now_s() -> list[float]:
    return [0.0]


@pytest.fixture
def desk(stores: Stores, now_s: list[float]) -> ErasureDesk:
    return ErasureDesk("roma", stores.make, lambda: now_s[0])


def reaches(desk: ErasureDesk, number: str, state: ErasureState) -> ErasureView:
    wait_until(lambda: desk.show(number, NOTHING).state == state, f"the state {state}")
    return desk.show(number, NOTHING)


def search(desk: ErasureDesk, stores: Stores) -> str:
    stores.goes_on.set()
    number = desk.search(WISH, "ann").number
    reaches(desk, number, "found")
    return number


def test_a_search_shows_its_step_then_what_it_found(desk: ErasureDesk, stores: Stores) -> None:
    number = desk.search(WISH, "ann").number
    wait_until(lambda: desk.show(number, NOTHING).step == "reading people", "the step")
    with pytest.raises(ErasureRefused, match="which ann started, is in the state 'looking'"):
        desk.search(WISH, "bob")
    with pytest.raises(ErasureRefused, match="which ann started, is in the state 'looking'"):
        desk.forget(number)
    with pytest.raises(ErasureRefused, match="which ann started, is in the state 'looking'"):
        desk.erase(number, ORDER, ANN)
    stores.goes_on.set()
    found = reaches(desk, number, "found")
    assert found.step == ""
    assert "They stay; by_text erases all of them:" in " ".join(found.sentences)
    chosen = desk.show(number, ErasureChoice(by_text=True))
    assert "They are erased too:" in " ".join(chosen.sentences)
    assert "Jane" not in found.model_dump_json()
    assert "shop.client" not in found.model_dump_json()


def test_an_erasure_is_of_the_plan_that_was_shown(desk: ErasureDesk, stores: Stores) -> None:
    number = search(desk, stores)
    stores.goes_on.clear()
    assert desk.erase(number, ORDER, ANN).state == "erasing"
    with pytest.raises(ErasureRefused, match="is in the state 'erasing'"):
        desk.erase(number, ORDER, ANN)
    stores.goes_on.set()
    ended = reaches(desk, number, "erased")
    assert stores.erased == [(PLAN, ANN, ErasureChoice(by_text=True))]
    assert ended.sentences[-1] == "Search again until nothing is found."
    assert not any("--" in each for each in ended.sentences)
    with pytest.raises(ErasureRefused, match="is in the state 'erased'"):
        desk.erase(number, ORDER, ANN)


@pytest.mark.parametrize("confirm", ["", "Roma", "shop"])
def test_it_begins_only_with_the_name_of_the_installation(
    desk: ErasureDesk, stores: Stores, confirm: str
) -> None:
    number = search(desk, stores)
    with pytest.raises(BadRequest, match="this installation has the name"):
        desk.erase(number, ErasureOrder(confirm=confirm), ANN)
    assert stores.erased == []


def test_an_erasure_that_would_change_nothing_is_refused(desk: ErasureDesk, stores: Stores) -> None:
    stores.found = ErasurePlan(by_text=PLAN.by_text)
    number = search(desk, stores)
    with pytest.raises(ErasureRefused, match="this erasure is allowed to change"):
        desk.erase(number, ErasureOrder(confirm="roma"), ANN)
    assert desk.show(number, NOTHING).state == "found"


def test_an_error_in_the_middle_is_named_and_the_act_can_be_repeated(
    desk: ErasureDesk, stores: Stores
) -> None:
    number = search(desk, stores)
    stores.fails = BrokerUnreachable("No broker answers.")
    desk.erase(number, ORDER, ANN)
    failed = reaches(desk, number, "failed")
    assert (failed.code, failed.reason) == ("BROKER_UNREACHABLE", "No broker answers.")
    stores.fails = None
    again = search(desk, stores)
    desk.erase(again, ORDER, ANN)
    assert reaches(desk, again, "erased").code == ""
    assert [each.number for each in desk.shown()] == [again, number]


def test_what_cannot_be_looked_for_is_refused_before_anything_is_read(desk: ErasureDesk) -> None:
    with pytest.raises(ErasureRefused, match="fewer than 4"):
        desk.search(ErasureWish(texts=["Roe"]), "ann")
    assert desk.shown() == []


def test_what_was_found_minutes_ago_is_not_erased(
    desk: ErasureDesk, stores: Stores, now_s: list[float]
) -> None:
    """A key may name another row by then, whose message a tombstone would hide."""
    number = search(desk, stores)
    now_s[0] = FRESH_SECONDS + 1
    with pytest.raises(ErasureRefused, match="more than 5 minutes ago"):
        desk.erase(number, ORDER, ANN)
    assert stores.erased == []


@pytest.mark.parametrize("fails", [None, BrokerUnreachable("No broker answers.")])
def test_keys_are_not_kept_after_the_end(
    desk: ErasureDesk, stores: Stores, fails: BrokerUnreachable | None
) -> None:
    number = search(desk, stores)
    stores.fails = fails
    desk.erase(number, ORDER, ANN)
    reaches(desk, number, "failed" if fails else "erased")
    job = desk._jobs[number]  # noqa: SLF001
    assert (job.erasure, job.plan) == (None, None)


def test_a_search_is_forgotten_on_request_and_after_an_hour(
    desk: ErasureDesk, stores: Stores, now_s: list[float]
) -> None:
    first, second = search(desk, stores), search(desk, stores)
    desk.forget(first)
    with pytest.raises(NoSuchThing, match="has no search") as caught:
        desk.show(first, NOTHING)
    assert "Search again" in caught.value.way_out
    now_s[0] = KEPT_SECONDS + 1
    with pytest.raises(NoSuchThing, match="has no search"):
        desk.erase(second, ORDER, ANN)
    assert desk.shown() == []

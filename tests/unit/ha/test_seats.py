"""When a relay may take an instance, and when a leader lets go."""

import pytest

from relay.ha import Seat, Seats, Why
from relay.ha.seats import UNCLAIMED_SECONDS, Standing, gives_way, may_take

ME, OTHER = "me", "other"
PATIENCE_SECONDS = 10.0


@pytest.mark.parametrize(
    ("seat", "stood_s", "may"),
    [
        (Seat(None, ME, Why.FREE), 0, True),
        (Seat(OTHER, ME, Why.MOVED), 0, True),
        (Seat(ME, OTHER, Why.MOVED), 0, True),
        (Seat(None, OTHER, Why.FREE), 0, False),
        (Seat(None, OTHER, Why.FREE), UNCLAIMED_SECONDS - 0.1, False),
        (Seat(None, OTHER, Why.FREE), UNCLAIMED_SECONDS, True),
        (Seat(OTHER, OTHER, Why.STAYS), 1000, False),
    ],
)
def test_who_may_take(seat: Seat, stood_s: float, may: bool) -> None:
    assert may_take(Standing(seat, 100.0), ME, 100.0 + stood_s) is may


@pytest.mark.parametrize(
    ("seat", "stood_s", "gives"),
    [
        (Seat(ME, ME, Why.STAYS), 1000, False),
        (Seat(ME, OTHER, Why.MOVED), 0, True),
        (Seat(ME, OTHER, Why.DRAINED), 0, True),
        (Seat(ME, OTHER, Why.PREFERRED), PATIENCE_SECONDS - 0.1, False),
        (Seat(ME, OTHER, Why.PREFERRED), PATIENCE_SECONDS, True),
        (Seat(ME, OTHER, Why.BALANCE), PATIENCE_SECONDS - 0.1, False),
        (Seat(ME, OTHER, Why.BALANCE), PATIENCE_SECONDS, True),
        (Seat(OTHER, ME, Why.MOVED), 1000, False),
        (Seat(None, OTHER, Why.FREE), 1000, False),
    ],
)
def test_who_gives_way(seat: Seat, stood_s: float, gives: bool) -> None:
    assert gives_way(Standing(seat, 100.0), ME, 100.0 + stood_s, PATIENCE_SECONDS) is gives


def test_a_wish_that_comes_and_goes_has_not_stood() -> None:
    seats = Seats(ME, rebalance_seconds=0.0)
    woken: list[int] = []
    seats.on_change(lambda: woken.append(1))
    assert seats.gives_way("shop") is None
    seats.renew({"shop": Seat(ME, OTHER, Why.BALANCE)})
    assert seats.gives_way("shop") == Seat(ME, OTHER, Why.BALANCE)
    patient = Seats(ME, rebalance_seconds=1000.0)
    patient.renew({"shop": Seat(ME, OTHER, Why.BALANCE)})
    assert patient.gives_way("shop") is None
    patient.renew({"shop": Seat(ME, OTHER, Why.DRAINED)})
    assert patient.gives_way("shop") == Seat(ME, OTHER, Why.DRAINED)
    seats.renew({})
    assert seats.gives_way("shop") is None
    assert len(woken) == 2


def test_who_took_an_instance_back_does_not_offer_it_again_soon() -> None:
    seats = Seats(ME, rebalance_seconds=0.0)
    seats.renew({"shop": Seat(None, OTHER, Why.FREE)})
    seats.taken("shop")
    seats.renew({"shop": Seat(ME, OTHER, Why.BALANCE)})
    assert seats.gives_way("shop") is None
    seats.renew({"shop": Seat(ME, OTHER, Why.MOVED)})
    assert seats.gives_way("shop") is not None

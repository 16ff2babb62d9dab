"""The rate at which a server catches up, from views that are read at odd times."""

import pytest

from api.services.catch_up import SPAN_MS, CatchUpRate, CatchUpRates, Sample


def noted(*samples: Sample) -> CatchUpRate | None:
    rates = CatchUpRates()
    found = None
    for each in samples:
        found = rates.note(("shop", "", "standby"), each)
    return found


@pytest.mark.parametrize(
    ("samples", "rate"),
    [
        ([Sample(0, 100)], None),
        ([Sample(0, 100), Sample(1000, 90)], None),
        ([Sample(0, 100), Sample(10_000, 50)], CatchUpRate(5.0, 10.0)),
        ([Sample(0, 100), Sample(10_000, 50), Sample(10_000, 50)], CatchUpRate(5.0, 10.0)),
        ([Sample(0, 50), Sample(10_000, 100)], CatchUpRate(-5.0, None)),
        ([Sample(0, 50), Sample(10_000, 50)], CatchUpRate(0.0, None)),
        ([Sample(0, 50), Sample(10_000, 0)], None),
        ([Sample(0, 50), Sample(10_000, -1)], None),
        ([Sample(0, 50), Sample(10_000, 0), Sample(20_000, 40)], None),
        (
            [Sample(0, 900), Sample(SPAN_MS, 100), Sample(SPAN_MS + 10_000, 50)],
            CatchUpRate(5.0, 10.0),
        ),
    ],
)
def test_the_rate(samples: list[Sample], rate: CatchUpRate | None) -> None:
    assert noted(*samples) == rate

"""A reading that is kept for the time while its server does not answer."""

from collections.abc import Callable

import pytest

from api.readings import LastReading
from relay.errors import NodeMissing, RelayError, StoreUnreachable


def failing(error: RelayError) -> Callable[[], str]:
    def read() -> str:
        raise error

    return read


def test_the_last_value_is_returned_with_its_time_and_the_error() -> None:
    now = [5.0]
    kept = LastReading[str](now_s=lambda: now[0])
    away = StoreUnreachable("away")
    with pytest.raises(StoreUnreachable):
        kept.of(failing(away))
    first = kept.of(lambda: "a")
    assert (first.value, first.read_ms, first.error) == ("a", 5000, None)
    now[0] = 9.0
    old = kept.of(failing(away))
    assert (old.value, old.read_ms, old.error) == ("a", 5000, away)
    new = kept.of(lambda: "b")
    assert (new.value, new.read_ms, new.error) == ("b", 9000, None)


def test_an_error_that_no_server_causes_is_raised() -> None:
    kept = LastReading[str]()
    kept.of(lambda: "a")
    with pytest.raises(NodeMissing):
        kept.of(failing(NodeMissing("no")))

"""Wrong passwords lead to pauses that grow, and nobody can keep another user out."""

from contextlib import suppress

import pytest

from api.access.login.throttle import (
    ATTEMPTS,
    BURST,
    FORGOTTEN_SECONDS,
    MOST_PAIRS,
    PAUSES_SECONDS,
    REFILL_SECONDS,
    LoginThrottle,
)
from api.errors import LoginPaused


class Clock:
    """Monotonic seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def throttle(clock: Clock) -> LoginThrottle:
    return LoginThrottle(clock)


def fail(throttle: LoginThrottle, times: int, name: str = "ann", address: str = "10.0.0.1") -> str:
    said = ""
    for _ in range(times):
        throttle.begin(name, address)
        said = throttle.failed(name, address)
    return said


def test_the_sentences_count_down(throttle: LoginThrottle) -> None:
    assert fail(throttle, 1) == "4 attempts are left before a pause of 5 minutes."
    assert fail(throttle, 3) == "1 attempt is left before a pause of 5 minutes."
    assert fail(throttle, 1).startswith("Too many wrong passwords for this name.")
    with pytest.raises(LoginPaused) as caught:
        throttle.begin("ann", "10.0.0.1")
    assert caught.value.seconds == PAUSES_SECONDS[0] + 1


def test_pauses_grow_to_a_bound_and_end(throttle: LoginThrottle, clock: Clock) -> None:
    for pause in (*PAUSES_SECONDS, PAUSES_SECONDS[-1], PAUSES_SECONDS[-1]):
        fail(throttle, ATTEMPTS)
        clock.now += pause - 1
        with pytest.raises(LoginPaused):
            throttle.begin("ann", "10.0.0.1")
        clock.now += 1
    throttle.begin("ann", "10.0.0.1")


def test_a_stranger_keeps_nobody_out(throttle: LoginThrottle) -> None:
    fail(throttle, ATTEMPTS, address="10.6.6.6")
    throttle.begin("ann", "10.0.0.1")
    throttle.begin("bob", "10.6.6.6")


@pytest.mark.parametrize(
    ("other", "paused"),
    [
        ("2001:db8:0:1:ffff::9", True),
        ("2001:db8:0:1::1%eth0", True),
        ("2001:db8:0:2::1", False),
        ("::ffff:10.0.0.1", False),
    ],
)
def test_a_network_of_ipv6_is_one_client(throttle: LoginThrottle, other: str, paused: bool) -> None:
    fail(throttle, ATTEMPTS, address="2001:db8:0:1::1")
    if not paused:
        throttle.begin("ann", other)
        return
    with pytest.raises(LoginPaused):
        throttle.begin("ann", other)


def test_an_ipv4_client_of_an_ipv6_socket_is_the_same_client(throttle: LoginThrottle) -> None:
    fail(throttle, ATTEMPTS, address="::ffff:10.0.0.1")
    throttle.begin("ann", "::ffff:10.0.0.2")
    with pytest.raises(LoginPaused):
        throttle.begin("ann", "10.0.0.1")


def test_a_right_password_forgets_the_wrong_ones(throttle: LoginThrottle) -> None:
    fail(throttle, ATTEMPTS - 1)
    throttle.begin("ann", "10.0.0.1")
    throttle.succeeded("ann", "10.0.0.1")
    assert fail(throttle, 1) == "4 attempts are left before a pause of 5 minutes."


def test_wrong_passwords_are_forgotten_after_a_day(throttle: LoginThrottle, clock: Clock) -> None:
    fail(throttle, ATTEMPTS)
    clock.now += FORGOTTEN_SECONDS + 1
    assert fail(throttle, 1) == "4 attempts are left before a pause of 5 minutes."


def test_attempts_at_the_same_time_count_before_they_are_verified(throttle: LoginThrottle) -> None:
    for _ in range(ATTEMPTS):
        throttle.begin("ann", "10.0.0.1")
    with pytest.raises(LoginPaused):
        throttle.begin("ann", "10.0.0.1")


def test_many_addresses_are_slow_together_and_known_users_are_not(
    throttle: LoginThrottle, clock: Clock
) -> None:
    throttle.begin("ann", "10.0.0.1")
    throttle.succeeded("ann", "10.0.0.1")
    for number in range(BURST):
        throttle.begin("ann", f"10.1.0.{number}")
    with pytest.raises(LoginPaused):
        throttle.begin("ann", "10.2.0.1")
    throttle.begin("ann", "10.0.0.1")
    clock.now += REFILL_SECONDS
    throttle.begin("ann", "10.2.0.1")


def test_the_memory_is_bounded(throttle: LoginThrottle, clock: Clock) -> None:
    fail(throttle, 1, name="first")
    fail(throttle, 1, name="second")
    for number in range(MOST_PAIRS - 1):
        clock.now += REFILL_SECONDS
        fail(throttle, 1, name=f"u{number}")
    assert fail(throttle, 1, name="second").startswith("3 attempts are left")
    assert fail(throttle, 1, name="first").startswith("4 attempts are left")


def test_one_address_tries_135_passwords_of_a_name_in_a_day(
    throttle: LoginThrottle, clock: Clock
) -> None:
    begun = 0
    for _ in range(24 * 60 * 6):
        with suppress(LoginPaused):
            throttle.begin("ann", "10.0.0.1")
            begun += 1
        clock.now += 10
    assert begun == 135

"""When a session ends: by time, by a clock that stepped, with its user's password."""

from dataclasses import replace

import pytest

from relay.model.accounts import Grant, LoginSession, Role, User, stamp_of

NOW = 1_000_000_000
ANN = User("ann", Grant(Role.VIEWER), 5, password="$argon2id$one")
SESSION = LoginSession("ann", stamp_of(ANN), NOW, NOW + 1000)


@pytest.mark.parametrize(
    ("now_ms", "over"),
    [
        (NOW, False),
        (NOW + 60_999, False),
        (NOW + 61_000, True),  # idle
        (NOW + 100_000, True),
        (NOW - 200_000, False),  # another admin's clock
        (NOW - 400_000, True),  # a clock that stepped back may not make sessions longer
        (0, True),
    ],
)
def test_a_session_ends_by_time(now_ms: int, over: bool) -> None:
    assert SESSION.is_over(now_ms, 100, 60) == over


def test_use_does_not_extend_the_lifetime() -> None:
    used = replace(SESSION, seen_ms=NOW + 99_000)
    assert not used.is_over(NOW + 99_999, 100, 60)
    assert used.is_over(NOW + 100_000, 100, 60)


@pytest.mark.parametrize(
    ("user", "usable"),
    [
        (ANN, True),
        (replace(ANN, grant=Grant(Role.ADMIN)), True),
        (replace(ANN, disabled=True), False),
        (replace(ANN, password="$argon2id$two"), False),
        (replace(ANN, password=""), False),
        (replace(ANN, created_ms=6), False),
        (replace(ANN, name="bob"), False),
    ],
)
def test_a_session_ends_with_its_users_password(user: User, usable: bool) -> None:
    assert SESSION.is_of(user) == usable


def test_no_session_is_of_a_user_without_a_password() -> None:
    without = replace(ANN, password="")
    assert not LoginSession("ann", stamp_of(without), NOW, NOW).is_of(without)

"""Which connection makes room for one more that has not logged in."""

from dataclasses import dataclass, field

import pytest

from canal_server.errors import TooMany
from canal_server.logins import Logins


@dataclass(eq=False)
class Coming:
    """A connection from an address; `turned_away` has the names of those that made room."""

    name: str
    turned_away: list[str] = field(repr=False)

    def turn_away(self) -> None:
        self.turned_away.append(self.name)


def came(logins: Logins, *names: str) -> tuple[list[Coming], list[str]]:
    """Let connections come, whose address is the first letter."""
    turned_away: list[str] = []
    coming = [Coming(each, turned_away) for each in names]
    for each in coming:
        logins.come(each, each.name[0])
    return coming, turned_away


def test_the_oldest_of_the_address_with_most_connections_makes_room() -> None:
    _, turned_away = came(Logins(1, 3), "a1", "b1", "b2", "b3", "a2", "a3")
    assert turned_away == ["b1", "b2", "a1"]


def test_a_login_makes_room_for_another_one() -> None:
    logins = Logins(2, 1)
    for name in ("a1", "a2"):
        (newcomer,), turned_away = came(logins, name)
        logins.log_in(newcomer)
        assert turned_away == []
    with pytest.raises(TooMany, match="has 2 connections"):
        came(logins, "a3")
    logins.leave(newcomer)
    came(logins, "a3")


def test_two_logins_at_once_do_not_pass_the_limit() -> None:
    logins = Logins(1, 2)
    (first, second), _ = came(logins, "a1", "a2")
    logins.log_in(first)
    with pytest.raises(TooMany, match="has 1 connections"):
        logins.log_in(second)


def test_connections_that_do_not_end_have_a_limit_too() -> None:
    logins = Logins(1, 2)
    coming, turned_away = came(logins, "a1", "a2", "a3", "a4")
    assert turned_away == ["a1", "a2"]
    with pytest.raises(TooMany, match="have not logged in"):
        logins.log_in(coming[0])
    with pytest.raises(TooMany, match="have not logged in"):
        came(logins, "a5")
    logins.leave(coming[0])
    came(logins, "a5")

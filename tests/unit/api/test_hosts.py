"""Which names of the Host header are answered."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import HostUnknown
from api.middleware.hosts import AllowedHosts


@pytest.mark.parametrize(
    "header",
    [
        None,
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1",
        "127.0.0.1:8",
        "[::1]:8",
        "[::1]",
        "::1",
        "10.1.2.3:80",
        "roma.example.org",
        "Roma.Example.org.:8",
    ],
)
def test_addresses_loopback_and_configured_names_are_answered(header: str | None) -> None:
    AllowedHosts(["roma.example.org"]).check(header)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8080",
        "roma.example.org.evil",
        "[evil]:1",
        "1.2.3.4:5:6",
    ],
)
def test_other_names_are_not(header: str) -> None:
    with pytest.raises(HostUnknown):
        AllowedHosts(["roma.example.org"]).check(header)
    AllowedHosts(["*"]).check(header)


@given(st.text(st.characters(max_codepoint=255)))
def test_any_header_is_either(header: str) -> None:
    with suppress(HostUnknown):
        AllowedHosts([]).check(header)

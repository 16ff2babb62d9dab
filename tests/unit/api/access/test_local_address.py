"""After signing in a browser stays on this admin, whatever its address says."""

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.web.local_address import local_address


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/", "./"),
        ("/mappings?by=db&q=a%2Fb", "./mappings?by=db&q=a%2Fb"),
        ("/instances/shop", "./instances/shop"),
        ("", "./"),
        ("mappings", "./"),
        ("//evil.example", "./"),
        ("/\\evil.example", "./"),
        ("/a\\b", "./"),
        ("\\\\evil.example", "./"),
        ("https://evil.example/", "./"),
        ("javascript:alert(1)", "./"),
        ("/\t/evil.example", "./"),
        ("/a\r\nSet-Cookie: x=1", "./"),
        (" /mappings", "./"),
        ("/ä", "./"),
        ("/" + "a" * 2000, "./"),
        ("/https://evil.example", "./https://evil.example"),
    ],
)
def test_only_paths_of_this_admin_are_followed(path: str, address: str) -> None:
    assert local_address(path) == address


@given(st.text() | st.text("/\\.:@?#\t\r\nae%", max_size=12))
def test_every_address_is_of_this_host(path: str) -> None:
    for base in ("http://roma.example/login", "http://roma.example/below/login"):
        found = urlsplit(urljoin(base, local_address(path)))
        assert (found.scheme, found.netloc) == ("http", "roma.example")

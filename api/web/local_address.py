"""Checks the page to return to after signing in, which the URL of the request names."""

import re
from typing import Final

_LOCAL: Final = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
"""A path with its query. A browser reads a backslash as a slash, and two slashes as a host."""
_MOST_CHARACTERS: Final = 2000
_FIRST_PAGE: Final = "./"


def local_address(path: str) -> str:
    """Return the address of a page of the admin, relative to the first page.

    Returns the first page for a text that is not such an address. The result begins with `./`, so
    that a browser cannot read it as the address of another host.
    """
    if len(path) > _MOST_CHARACTERS or not path.isascii() or not _LOCAL.fullmatch(path):
        return _FIRST_PAGE
    return f".{path}"

"""Decides which host names in requests the HTTP servers of relay and admin accept.

A page of an attacker can make a browser send requests to such a server only under the attacker's
own host name (DNS rebinding).
"""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Final

_EVERY: Final = "*"
_LOOPBACK: Final = "localhost"


class KnownHosts:
    """The host names that an HTTP server accepts. `names` are those of a setting; `*` accepts any
    name.

    IP addresses and localhost are always accepted, because they cannot be the host name of an
    attacker's page.
    """

    def __init__(self, names: Iterable[str]) -> None:
        known = {_plain(name) for name in names}
        self._every = _EVERY in known
        self._names = known | {_LOOPBACK}

    def knows(self, header: str | None) -> bool:
        """Return whether a request with this Host header is accepted.

        `header` None is accepted, because only programs send no Host header.
        """
        if header is None or self._every:
            return True
        name = _plain(_without_port(header))
        return name in self._names or _is_address(name)


def _plain(name: str) -> str:
    return name.strip().lower().removesuffix(".")


def _without_port(header: str) -> str:
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

"""Checks the host names in requests to the admin."""

from collections.abc import Sequence

from api.errors import HostUnknown
from relay.telemetry import KnownHosts


class AllowedHosts:
    """Checks the Host header of requests against the names in the setting `api.hosts`.

    `KnownHosts` defines which names match.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._known = KnownHosts(names)

    def check(self, header: str | None) -> None:
        """Raise HostUnknown if a request's Host header is not an allowed name. None: it has no such
        header.
        """
        if header is not None and not self._known.knows(header):
            raise HostUnknown(f"{header[:200]!r} is not a host name of this admin.")

"""The names that the admin answers to."""

from collections.abc import Sequence

from api.errors import HostUnknown
from relay.telemetry import KnownHosts


class AllowedHosts:
    """`names` are those of the setting api.hosts; the rule is that of `KnownHosts`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._known = KnownHosts(names)

    def check(self, header: str | None) -> None:
        """Check a request's Host header. Raises HostUnknown."""
        if header is not None and not self._known.knows(header):
            raise HostUnknown(f"{header[:200]!r} is not a host name of this admin.")

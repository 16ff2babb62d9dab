"""Finds servers whose relay was connected and is not connected any more."""

from collections.abc import Iterable, Set
from typing import Final

from api.models.instance import RelayView
from api.services.watch.needs import GoneRelay

PATIENCE_MS: Final = 30_000
"""A relay is reported as gone after this many milliseconds; a restart takes less."""
_KEPT_MS: Final = 86_400_000
"""After a day a relay that did not come back counts as removed."""


class RelayRoll:
    """Stores which relays were connected, by their servers."""

    def __init__(self) -> None:
        self._seen: dict[str, GoneRelay] = {}

    def note(self, living: Iterable[RelayView], now_ms: int) -> None:
        """Record that the relays in `living` are connected at `now_ms` (Unix milliseconds)."""
        for each in living:
            self._seen[each.server] = GoneRelay(each.name, each.server, now_ms)
        self._seen = {
            server: each for server, each in self._seen.items() if now_ms - each.since_ms < _KEPT_MS
        }

    def gone(self, maintenance: Set[str], now_ms: int) -> list[GoneRelay]:
        """Return the relays that were connected and have been missing for longer than a restart
        takes.

        `maintenance` has servers in maintenance; their relays are omitted. `now_ms` is the present
        time.
        """
        return [
            each
            for server, each in sorted(self._seen.items())
            if now_ms - each.since_ms >= PATIENCE_MS and server not in maintenance
        ]

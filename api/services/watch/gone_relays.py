"""Servers whose relay was seen and no longer lives."""

from collections.abc import Iterable, Set
from typing import Final

from api.models.instance import RelayView
from api.services.watch.needs import GoneRelay

PATIENCE_MS: Final = 30_000
"""A relay that restarts is back before that."""
_KEPT_MS: Final = 86_400_000
"""After a day a relay that did not come back counts as removed."""


class RelayRoll:
    """Keeps the relays that were connected, by server."""

    def __init__(self) -> None:
        self._seen: dict[str, GoneRelay] = {}

    def note(self, living: Iterable[RelayView], now_ms: int) -> None:
        """Note the relays that live now; `since_ms` of a known one is when it was seen last."""
        for each in living:
            self._seen[each.server] = GoneRelay(each.name, each.server, now_ms)
        self._seen = {
            server: each for server, each in self._seen.items() if now_ms - each.since_ms < _KEPT_MS
        }

    def gone(self, maintenance: Set[str], now_ms: int) -> list[GoneRelay]:
        """Return the relays that are missing for longer than a restart takes, without those of
        servers in maintenance.
        """
        return [
            each
            for server, each in sorted(self._seen.items())
            if now_ms - each.since_ms >= PATIENCE_MS and server not in maintenance
        ]

"""What the watch knows at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.models.instance import RelayView
from api.models.watch.needs import NeedView
from api.services.watch.facts import Facts
from relay.errors import RelayError


@dataclass(frozen=True, slots=True)
class Moment:
    """The newest reading of everything.

    read_ms      when it was read (Unix milliseconds); 0: never
    facts        instances by name, in the order of their names
    maintenance  servers that are being drained
    addresses    instance → `host:port` of its source, where this admin knows the settings
    error        why a later reading failed; the rest is then old
    """

    read_ms: int = 0
    facts: Mapping[str, Facts] = field(default_factory=dict)
    relays: tuple[RelayView, ...] = ()
    maintenance: frozenset[str] = frozenset()
    addresses: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[NeedView, ...] = ()
    error: RelayError | None = None

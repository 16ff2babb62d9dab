"""All that the admin has observed about the instances at one time."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.models.instance import RelayView
from api.models.watch.needs import NeedView
from api.services.watch.facts import Facts
from relay.errors import RelayError


@dataclass(frozen=True, slots=True)
class Moment:
    """What the admin read about all instances at its newest reading.

    read_ms      time of the reading in Unix milliseconds; 0: nothing was read yet
    facts        instance → facts, sorted by instance
    relays       the connected relays
    maintenance  servers (hosts of relays) that are being drained
    addresses    instance → `host:port` of its source, if this admin has the settings
    needs        the problems that need an operator
    grouped      instance → source of its group → `host:port`, if this admin has the settings
    error        the error of a later reading that failed, so that the other fields are old; None:
                 no later reading failed
    """

    read_ms: int = 0
    facts: Mapping[str, Facts] = field(default_factory=dict)
    relays: tuple[RelayView, ...] = ()
    maintenance: frozenset[str] = frozenset()
    addresses: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[NeedView, ...] = ()
    grouped: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    error: RelayError | None = None

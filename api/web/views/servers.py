"""Computes the data of the servers page: relays by server, and the candidates of instances."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from api.models.instance import RelayView
from api.models.placement import InstancePlaceView, PlacementView, WishView
from api.services.watch import Moment
from api.web import words
from api.web.views.relay_names import RelayNames

_MS: Final = 1000
SHOWN: Final = 100
"""Largest number of instances in the matrix, unless the reader requests all."""


@dataclass(frozen=True, slots=True)
class ServerRow:
    """One relay in the list of servers.

    relay        the relay process and its server
    maintenance  the operator's order if the server is in maintenance; None: it is not
    leads        number of instances that the relay leads
    most         largest number of instances that one relay leads
    rate         rows per second as text
    could        number of instances that the relay could lead
    up           time since the relay's start, as text
    """

    relay: RelayView
    maintenance: WishView | None
    leads: int
    most: int
    rate: str
    could: int
    up: str


class Mark(NamedTuple):
    """A cell of the matrix: CSS class, icon, and text."""

    kind: str
    icon: str
    word: str


class MatrixRow(NamedTuple):
    """An instance with a mark for each relay (`marks`), and the reason why some relay cannot run it
    (`why`).
    """

    instance: str
    marks: list[Mark]
    why: str


_LEADS: Final = Mark("lead", "st-RUNNING", "leads")
_COULD: Final = Mark("can", "i-check", "can run it")
_CANNOT: Final = Mark("cannot", "i-cross", "cannot run it")
_AWAY: Final = Mark("can", "i-minus", "in maintenance")
_NOT: Final = Mark("can", "i-dash", "not in its configuration")


def sentence(moment: Moment, placement: PlacementView) -> str:
    """Return a text about the page, with the numbers of relays, servers and led instances if they
    are known.
    """
    about = (
        "The servers that run relays, the instances that each leads, and those that it could run."
    )
    if not moment.read_ms:
        return about
    led = sum(bool(each.leader) for each in placement.instances)
    servers = len({each.server for each in moment.relays})
    relays = words.counted(len(moment.relays), "relay")
    return (
        f"{about} {relays} on {words.counted(servers, 'server')} "
        f"{'leads' if len(moment.relays) == 1 else 'lead'} {led} of "
        f"{words.counted(len(moment.facts), 'instance')}."
    )


def rows(moment: Moment, placement: PlacementView) -> list[ServerRow]:
    """Return every connected relay, sorted by server."""
    leads = Counter(each.leader for each in placement.instances if each.leader)
    wishes = {each.name: each for each in placement.maintenance}
    most = max(leads.values(), default=1)
    return [
        ServerRow(
            relay,
            wishes.get(relay.server),
            leads[relay.name],
            most,
            words.number(_rate(moment, relay.name)),
            _could(placement, relay.name),
            words.duration(max(0, moment.read_ms - relay.started_ms) / _MS),
        )
        for relay in sorted(moment.relays, key=lambda each: (each.server, each.name))
    ]


def matrix(moment: Moment, placement: PlacementView, *, every: bool) -> list[MatrixRow]:
    """Return which relays could run each instance. Instances that some relay cannot run are first.

    every  whether all instances are returned; otherwise at most SHOWN
    """
    relays, names = sorted(each.name for each in moment.relays), RelayNames.of(moment.relays)
    found = [_matrix_row(each, relays, names) for each in placement.instances]
    found.sort(key=lambda row: (not row.why, row.instance))
    return found if every else found[:SHOWN]


def _matrix_row(place: InstancePlaceView, relays: Sequence[str], names: RelayNames) -> MatrixRow:
    candidates = {each.relay: each for each in place.candidates}
    marks = []
    for relay in relays:
        each = candidates.get(relay)
        if relay == place.leader:
            marks.append(_LEADS)
        elif each is None:
            marks.append(_NOT)
        elif each.in_maintenance:
            marks.append(_AWAY)
        else:
            marks.append(_CANNOT if each.code else _COULD)
    why = ", ".join(
        f"{names(each.relay).shown}: {each.code}"
        for each in place.candidates
        if each.code and each.relay != place.leader
    )
    return MatrixRow(place.instance, marks, why or ("" if place.leader else "No relay leads it."))


def _could(placement: PlacementView, relay: str) -> int:
    return sum(
        each.relay == relay and not each.code and not each.in_maintenance and place.leader != relay
        for place in placement.instances
        for each in place.candidates
    )


def _rate(moment: Moment, relay: str) -> float:
    return sum(
        each.rate or 0.0
        for each in moment.facts.values()
        if each.view.relay == relay and each.view.relay_alive
    )

"""Filters and sorts the instances of a list."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from api.services.watch.facts import Facts

Grouping = Literal["", "state", "server"]
Sort = Literal["state", "name", "relay", "lag", "rate", "change"]

_RANKS: Final = ("STOPPED", "WAITING", "PAUSED", "STARTING", "STANDBY", "RUNNING", "ENDED")
_NEVER: Final = -1.0
_NO_SERVERS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters and the sort order that a reader of the list requested.

    filter  words; an instance is shown if each word is part of its name, relay, source address,
            state or code
    state   only instances with this present state; "": all states
    sort    the sort key; instances with equal keys are sorted by name
    down    True: the greatest key is first
    """

    filter: str = ""
    state: str = ""
    sort: Sort = "state"
    down: bool = False


class InstanceGroup(NamedTuple):
    """Instances with the same state, or with relays on the same server (host).

    key          the state or the server; "": all instances are one group
    facts        the facts about its instances
    worst        the most urgent state in the group
    worst_count  number of its instances in that state
    """

    key: str
    facts: list[Facts]
    worst: str
    worst_count: int


def grouped(
    facts: Iterable[Facts], by: Grouping, servers: Mapping[str, str]
) -> list[InstanceGroup]:
    """Return instances in groups; groups and instances keep the order of `facts`.

    facts    the facts about the instances
    by       the grouping: "state", "server", or "" for one group
    servers  name of a relay → name of its server (host)
    """
    found: dict[str, list[Facts]] = {}
    for each in facts:
        found.setdefault(_key(each, by, servers), []).append(each)
    return [_group(key, members) for key, members in found.items()]


def _group(key: str, facts: list[Facts]) -> InstanceGroup:
    states = Counter(each.period.state for each in facts)
    worst = min(states, key=lambda each: (rank(each), each))
    return InstanceGroup(key, facts, worst, states[worst])


def _key(facts: Facts, by: Grouping, servers: Mapping[str, str]) -> str:
    if by == "state":
        return facts.period.state
    if by == "server":
        relay = facts.view.relay
        return servers.get(relay, f"{relay}, which has ended" if relay else "No relay")
    return ""


def rank(state: str) -> int:
    """Return the sort rank of a state. States that need an operator have the lowest ranks."""
    return _RANKS.index(state) if state in _RANKS else _RANKS.index("STARTING")


def selected(
    facts: Iterable[Facts],
    addresses: Mapping[str, str],
    asked: Selection,
    servers: Mapping[str, str] = _NO_SERVERS,
) -> list[Facts]:
    """Return the instances that match the filters, in the requested order.

    facts      the facts about all instances
    addresses  instance → address of its source
    asked      the filters and the order
    servers    name of a relay → name of its server (host)
    """
    words = asked.filter.casefold().split()
    found = [
        each
        for each in facts
        if asked.state in ("", each.period.state)
        and all(word in _text(each, addresses, servers) for word in words)
    ]
    found.sort(key=lambda each: each.view.name)
    if asked.sort == "relay":
        names = {each.view.relay: servers.get(each.view.relay, each.view.relay) for each in found}
        return sorted(found, key=lambda each: names[each.view.relay], reverse=asked.down)
    return sorted(found, key=SORTS[asked.sort], reverse=asked.down)


def _text(facts: Facts, addresses: Mapping[str, str], servers: Mapping[str, str]) -> str:
    view = facts.view
    relay, address = servers.get(view.relay, ""), addresses.get(view.name, "")
    parts = (view.name, view.relay, relay, address, facts.period.state, view.code)
    return " ".join(parts).casefold()


def _by_state(facts: Facts) -> float:
    return rank(facts.period.state)


def _by_lag(facts: Facts) -> float:
    return _NEVER if facts.view.lag_seconds is None else facts.view.lag_seconds


def _by_rate(facts: Facts) -> float:
    return _NEVER if facts.rate is None else facts.rate


def _by_change(facts: Facts) -> float:
    return facts.view.execute_time or 0


def _by_name(facts: Facts) -> str:
    return facts.view.name


SORTS: Final[Mapping[Sort, Callable[[Facts], float | str]]] = {
    "state": _by_state,
    "name": _by_name,
    "lag": _by_lag,
    "rate": _by_rate,
    "change": _by_change,
}
"""The sort keys of a list, except the relay, which is sorted by its server."""

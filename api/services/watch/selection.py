"""Which instances a list shows, and in which order: decided on values alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from api.services.watch.facts import Facts

Sort = Literal["state", "name", "relay", "lag", "rate", "change"]

_RANKS: Final = ("STOPPED", "WAITING", "PAUSED", "STARTING", "STANDBY", "RUNNING", "ENDED")
_NEVER: Final = -1.0


@dataclass(frozen=True, slots=True)
class Selection:
    """What a reader asked for.

    filter  words that must all be part of name, relay, source address, state or code
    state   the present state; empty: every one
    sort    what the list is ordered by; equal ones by name
    down    whether the greatest comes first
    """

    filter: str = ""
    state: str = ""
    sort: Sort = "state"
    down: bool = False


def rank(state: str) -> int:
    """Return the place of a state in a list: what needs a person comes first."""
    return _RANKS.index(state) if state in _RANKS else _RANKS.index("STARTING")


def selected(facts: Iterable[Facts], addresses: Mapping[str, str], asked: Selection) -> list[Facts]:
    """Return the instances that were asked for, in their order."""
    words = asked.filter.casefold().split()
    found = [
        each
        for each in facts
        if asked.state in ("", each.period.state)
        and all(word in _text(each, addresses) for word in words)
    ]
    found.sort(key=lambda each: each.view.name)
    return sorted(found, key=SORTS[asked.sort], reverse=asked.down)


def _text(facts: Facts, addresses: Mapping[str, str]) -> str:
    view = facts.view
    parts = (view.name, view.relay, addresses.get(view.name, ""), facts.period.state, view.code)
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


def _by_relay(facts: Facts) -> str:
    return facts.view.relay


SORTS: Final[Mapping[Sort, Callable[[Facts], float | str]]] = {
    "state": _by_state,
    "name": _by_name,
    "relay": _by_relay,
    "lag": _by_lag,
    "rate": _by_rate,
    "change": _by_change,
}
"""What a list can be ordered by."""

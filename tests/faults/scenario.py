"""A scenario: what is done to a running installation, and under which name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.faults.stage import Brokers, Run

Act: TypeAlias = Callable[[Run], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """`act` runs under load; `relays` of one installation are up, `instance` are settings of theirs; with `pair` there is a standby, and
    with `beside` another source that rests, so that they are a group.
    """

    name: str
    what: str
    act: Act
    relays: int = 1
    brokers: Brokers = "one"
    pair: bool = False
    beside: bool = False
    instance: Mapping[str, Any] = field(default_factory=dict)


SCENARIOS: Final[dict[str, Scenario]] = {}


def scenario(
    name: str, what: str, *, relays: int = 1, brokers: Brokers = "one", pair: bool = False, beside: bool = False, **instance: Any
) -> Callable[[Act], Act]:
    """Put a function on the list of scenarios."""

    def listed(act: Act) -> Act:
        SCENARIOS[name] = Scenario(name, what, act, relays, brokers, pair, beside, instance)
        return act

    return listed

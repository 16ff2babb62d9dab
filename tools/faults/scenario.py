"""A scenario: the name and the function of a fault in a running installation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from tools.faults.stage import Brokers, Run, Setup

Act: TypeAlias = Callable[[Run], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """`act` runs under load, with `relays` relay processes of one installation."""

    name: str
    what: str
    act: Act
    relays: int = 1
    setup: Setup = field(default_factory=Setup)


SCENARIOS: Final[dict[str, Scenario]] = {}


def scenario(
    name: str,
    what: str,
    *,
    relays: int = 1,
    brokers: Brokers = "one",
    pair: bool = False,
    beside: bool = False,
    own_clock: bool = False,
    **instance: Any,
) -> Callable[[Act], Act]:
    """Register a function as a scenario; further arguments are settings of the instance."""

    def listed(act: Act) -> Act:
        SCENARIOS[name] = Scenario(
            name, what, act, relays, Setup(brokers, instance, pair, beside, own_clock)
        )
        return act

    return listed


def variant(
    base: str, suffix: str, what: str, instance: Mapping[str, dict[str, Any]], **setup: Any
) -> None:
    """Register a scenario again with another setup.

    `instance` joins the settings of the base, table by table.
    """
    scenario = SCENARIOS[base]
    settings = dict(scenario.setup.instance)
    for table, values in instance.items():
        settings[table] = {**settings.get(table, {}), **values}
    name = f"{base}-{suffix}"
    changed = replace(scenario.setup, instance=settings, **setup)
    SCENARIOS[name] = replace(scenario, name=name, what=f"{what}: {scenario.what}", setup=changed)

"""A scenario: the name and the function of a fault in a running installation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from tools.faults.stage import Brokers, Run, Setup

Act: TypeAlias = Callable[[Run], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A fault in a running installation.

    name    name on the command line and in reports
    what    description for reports
    act     causes the fault and waits for its end; it runs under load
    relays  number of relay processes of the installation
    setup   configuration of the run
    """

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
    """Decorator: register a function as a scenario. See Scenario and Setup for the arguments;
    further keywords are settings of the instance.
    """

    def listed(act: Act) -> Act:
        SCENARIOS[name] = Scenario(
            name, what, act, relays, Setup(brokers, instance, pair, beside, own_clock)
        )
        return act

    return listed


def variant(
    base: str, suffix: str, what: str, instance: Mapping[str, dict[str, Any]], **setup: Any
) -> None:
    """Register the scenario `base` again as `<base>-<suffix>`, with another setup.

    instance  settings that are added to those of the base: table of the settings → values
    setup     fields of Setup that replace those of the base
    """
    scenario = SCENARIOS[base]
    settings = dict(scenario.setup.instance)
    for table, values in instance.items():
        settings[table] = {**settings.get(table, {}), **values}
    name = f"{base}-{suffix}"
    changed = replace(scenario.setup, instance=settings, **setup)
    SCENARIOS[name] = replace(scenario, name=name, what=f"{what}: {scenario.what}", setup=changed)

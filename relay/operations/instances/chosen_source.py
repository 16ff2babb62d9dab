"""Selects the source of an instance that a request refers to, with its connection settings."""

from typing import NamedTuple

from relay.errors import ConfigurationError
from relay.model.names.source_name import source_named
from relay.settings import InstanceSettings, SourceSettings


class ChosenSource(NamedTuple):
    """A source's name in its group ("" for a single one), and its connection settings."""

    name: str
    settings: SourceSettings


def chosen_source(instance: InstanceSettings, wanted: str | None) -> ChosenSource:
    """Return the source with the name `wanted`; if it is None, the only source of the instance.

    A single source can also be named by the instance's name. Raises SourceNotNamed if no source has
    the name, and for a group also if `wanted` is None.
    """
    members = instance.each_source()
    name = source_named(instance.name, () if instance.group is None else members, wanted)
    return ChosenSource(name, members[name])


def chosen_server(
    instance: InstanceSettings, wanted: str | None, *, standby: bool
) -> SourceSettings:
    """Return the connection settings of the source that a request names, or of its standby.

    `wanted` is described at `chosen_source`. Raises SourceNotNamed, and ConfigurationError if the
    source has no standby.
    """
    chosen = chosen_source(instance, wanted)
    settings = chosen.settings.at_standby() if standby else chosen.settings
    if settings is None:
        whose = (
            f"Source {chosen.name} of {instance.name}"
            if chosen.name
            else f"Instance {instance.name}"
        )
        raise ConfigurationError(
            f"{whose} has no standby.",
            remedy="Leave out the option for the standby, or configure a standby.",
        )
    return settings

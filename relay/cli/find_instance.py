"""Finds the instance that a command names."""

from typing import TYPE_CHECKING

from relay.cli.confirm import zookeeper

if TYPE_CHECKING:
    from relay.settings import InstanceSettings, RelaySettings


def find_instance(
    settings: "RelaySettings", name: str, *, resolved: bool = False
) -> "InstanceSettings":
    """Return the settings of the instance with this name.

    ZooKeeper is read only if the configuration file does not define the instance. `resolved`:
    replace the secrets in its document by their values from the environment. Raises
    ConfigurationError if there is no such instance.
    """
    from relay.operations import instance_of

    if any(each.name == name for each in settings.instances):
        return instance_of(settings, name)
    with zookeeper(settings) as session:
        return instance_of(settings, name, session, resolved=resolved)

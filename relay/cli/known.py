"""Finding the instance that a command names."""

from typing import TYPE_CHECKING

from relay.cli.confirm import zookeeper

if TYPE_CHECKING:
    from relay.settings import InstanceSettings, RelaySettings


def known_instance(
    settings: "RelaySettings", name: str, *, resolved: bool = False
) -> "InstanceSettings":
    """Return the instance of this name. ZooKeeper is read only if the file does not define it.

    `resolved`: replace secrets of its document by their values from the environment. Raises
    ConfigurationError.
    """
    from relay.operations import instance_of

    if any(each.name == name for each in settings.instances):
        return instance_of(settings, name)
    with zookeeper(settings) as session:
        return instance_of(settings, name, session, resolved=resolved)

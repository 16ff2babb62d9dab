"""Returns the addresses of sources that the settings name."""

from collections.abc import Mapping

from relay.settings import GroupSourceSettings, InstanceSettings, SourceSettings


def address_of(source: SourceSettings | GroupSourceSettings) -> str:
    """Return `host:port` of a source."""
    return f"{source.host}:{source.port}"


def grouped_addresses(instance: InstanceSettings) -> Mapping[str, str]:
    """Return source → `host:port` for the sources of a group; empty for an instance with one
    source.
    """
    group = instance.group
    if group is None:
        return {}
    return {
        group.name: address_of(instance.source),
        **{each.name: address_of(each) for each in group.sources},
    }

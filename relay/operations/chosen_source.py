"""The source of an instance that is meant, and how it is reached."""

from typing import NamedTuple

from relay.model.source_name import source_named
from relay.settings import InstanceSettings, SourceSettings


class ChosenSource(NamedTuple):
    """A source's name among those of its group ("" for a single one), and how it is reached."""

    name: str
    settings: SourceSettings


def chosen_source(instance: InstanceSettings, wanted: str | None) -> ChosenSource:
    """Choose the source that is `wanted`; a single one also goes by the instance's name. Raises SourceNotNamed."""
    members = instance.each_source()
    name = source_named(instance.name, () if instance.group is None else members, wanted)
    return ChosenSource(name, members[name])

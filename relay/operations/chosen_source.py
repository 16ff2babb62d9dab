"""Which source of an instance is meant: that of a group must be named, a single one need not."""

from typing import NamedTuple

from relay.errors import SourceNotNamed
from relay.settings import InstanceSettings, SourceSettings


class ChosenSource(NamedTuple):
    """A source's name among those of its group ("" for a single one), and how it is reached."""

    name: str
    settings: SourceSettings


def chosen_source(instance: InstanceSettings, wanted: str | None) -> ChosenSource:
    """Choose the source that is `wanted`; a single one also goes by the instance's name. Raises SourceNotNamed."""
    members = instance.each_source()
    if instance.group is None:
        if wanted not in (None, instance.name):
            raise SourceNotNamed(f"{instance.name} reads a single source, which is not called {wanted!r}.", remedy="Leave --source out.")
        return ChosenSource("", members[""])
    known = ", ".join(members)
    if wanted is None:
        raise SourceNotNamed(f"{instance.name} reads a group of sources: {known}.", remedy="Name one of them with --source.")
    if wanted not in members:
        raise SourceNotNamed(f"{instance.name} has no source {wanted!r}, but {known}.", remedy="Name one of these with --source.")
    return ChosenSource(wanted, members[wanted])

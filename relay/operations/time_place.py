"""Where a server's binlog stood at a time: what `start.timestamp` would find, asked for by hand. Nothing is changed."""

from datetime import datetime

from relay.errors import ConfigurationError
from relay.model.position import SourcePosition
from relay.operations.chosen_source import chosen_source
from relay.settings import InstanceSettings
from relay.source import place_of_time


def place_by_time(
    instance: InstanceSettings, time: datetime, *, file: str | None = None, standby: bool = False, source: str | None = None
) -> SourcePosition:
    """Find the last border between transactions before a time, in one file or over all, on a source or its standby.

    `source` is the one of a group that is asked. Raises SourceNotNamed, BinlogPurged where the oldest file is newer, and
    ConfigurationError for a file or a standby that is not there.
    """
    chosen = chosen_source(instance, source)
    settings = chosen.settings.at_standby() if standby else chosen.settings
    if settings is None:
        whose = f"Source {chosen.name} of {instance.name}" if chosen.name else f"Instance {instance.name}"
        raise ConfigurationError(f"{whose} has no standby.", remedy="Ask the source itself, or name its standby.")
    return place_of_time(settings, time, file)

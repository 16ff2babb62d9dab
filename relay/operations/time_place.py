"""Where a server's binlog stood at a time: what `start.timestamp` would find, asked for by hand. Nothing is changed."""

from datetime import datetime

from relay.errors import ConfigurationError
from relay.model.position import SourcePosition
from relay.settings import InstanceSettings
from relay.source import place_of_time


def place_by_time(instance: InstanceSettings, time: datetime, *, file: str | None = None, standby: bool = False) -> SourcePosition:
    """Find the last border between transactions before a time, in one file or over all, on the source or its standby.

    Raises BinlogPurged where the oldest file is newer, ConfigurationError for a file or a standby that is not there.
    """
    settings = instance.source.at_standby() if standby else instance.source
    if settings is None:
        raise ConfigurationError(f"Instance {instance.name} has no standby.", remedy="Ask its source, or name [instances.source.standby].")
    return place_of_time(settings, time, file)

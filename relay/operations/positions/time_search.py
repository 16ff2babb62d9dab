"""Where a server's binlog stood at a time: what `start.timestamp` would find, asked for by hand.

Nothing is changed.
"""

from datetime import datetime

from relay.model.positions.position import SourcePosition
from relay.operations.instances.chosen_source import chosen_server
from relay.settings import InstanceSettings
from relay.source import place_of_time


def place_by_time(
    instance: InstanceSettings,
    time: datetime,
    *,
    file: str | None = None,
    standby: bool = False,
    source: str | None = None,
) -> SourcePosition:
    """Find the last border between transactions before a time, in one file or over all, on a source
    or its standby.

    `source` is the one of a group that is asked. Raises SourceNotNamed, BinlogPurged where the
    oldest file is newer, and ConfigurationError for a file or a standby that is not there.
    """
    return place_of_time(chosen_server(instance, source, standby=standby), time, file)

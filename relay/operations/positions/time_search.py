"""Finds the binlog position that a server had at a given time, as the setting `start.timestamp`
does. Nothing is changed.
"""

from datetime import datetime

from relay.model.positions.position import SourcePosition
from relay.operations.instances.chosen_source import chosen_server
from relay.settings import InstanceSettings
from relay.source import position_of_time


def position_by_time(
    instance: InstanceSettings,
    time: datetime,
    *,
    file: str | None = None,
    standby: bool = False,
    source: str | None = None,
) -> SourcePosition:
    """Return the last transaction boundary before a time.

    `file` limits the search to one binlog file. `standby`: search on the standby. `source` names
    the source of a group. Raises SourceNotNamed, BinlogPurged if the oldest file is newer, and
    ConfigurationError for an unknown file or a missing standby.
    """
    return position_of_time(chosen_server(instance, source, standby=standby), time, file)

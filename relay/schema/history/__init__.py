"""The schema history: the definition of each table at each position of the binlog, for servers
whose table maps have no column names.

The reading thread updates the history by DDL statements, and completes table maps with it.
"""

from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.history.fitting import completed
from relay.schema.history.followed_tables import FollowedTables
from relay.schema.history.history_position import HistoryPosition
from relay.schema.history.known_tables import Known
from relay.schema.history.table_history import TableHistory
from relay.schema.history.versions import (
    Base,
    Version,
    base_at,
    folded,
    later_bases,
    parse_record,
    superseded,
)

__all__ = [
    "Base",
    "DescribedColumn",
    "DescribedTable",
    "FollowedTables",
    "HistoryPosition",
    "Known",
    "TableHistory",
    "Version",
    "base_at",
    "completed",
    "folded",
    "later_bases",
    "parse_record",
    "superseded",
]

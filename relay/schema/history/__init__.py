"""What a table looked like at each place of the binlog, for servers whose table maps carry no
names.
"""

from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.history.fitting import completed
from relay.schema.history.following import Known, Schemas
from relay.schema.history.place import HistoryPlace
from relay.schema.history.table_history import TableHistory
from relay.schema.history.versions import Base, Version, folded, parse_record, superseded

__all__ = [
    "Base",
    "DescribedColumn",
    "DescribedTable",
    "HistoryPlace",
    "Known",
    "Schemas",
    "TableHistory",
    "Version",
    "completed",
    "folded",
    "parse_record",
    "superseded",
]

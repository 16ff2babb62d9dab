"""XA COMMITs that MariaDB has logged, and may not show to SELECTs yet."""

from time import monotonic
from typing import Final

from relay.model.table import TableId

HIDDEN_SECONDS: Final = 15.0
"""After a taken XA COMMIT of a table's rows, no chunk of it is read for this many seconds.

MariaDB logs it, and moves binlog_snapshot_position, before InnoDB commits it. It is more than the
default of rpl_semi_sync_master_timeout (10 s).
"""


class XaCommits:
    """When an XA COMMIT of each table's rows was taken last; used by the publishing thread."""

    def __init__(self) -> None:
        self._taken_s: dict[TableId, float] = {}

    def take(self, table: TableId) -> None:
        """Note an XA COMMIT of rows of a table."""
        self._taken_s[table] = monotonic()

    def may_hide(self, table: TableId) -> bool:
        """Return whether a SELECT of the table may not yet show the rows of an XA COMMIT."""
        taken_s = self._taken_s.get(table)
        return taken_s is not None and monotonic() - taken_s < HIDDEN_SECONDS

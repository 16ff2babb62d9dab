"""XA COMMITs that MariaDB has logged but may not yet show to SELECTs."""

from time import monotonic
from typing import Final

from relay.model.table import TableId

HIDDEN_SECONDS: Final = 15.0
"""After an XA COMMIT of a table's rows was read, no chunk of the table is read for this many
seconds.

MariaDB logs an XA COMMIT, and moves binlog_snapshot_position, before InnoDB commits the rows. The
value is more than the default of rpl_semi_sync_master_timeout (10 s), for which MariaDB can wait in
between.
"""


class XaCommits:
    """Records for each table when an XA COMMIT of its rows was last read; used by the publishing
    thread.
    """

    def __init__(self) -> None:
        self._taken_s: dict[TableId, float] = {}

    def take(self, table: TableId) -> None:
        """Record that an XA COMMIT of rows of this table was read now."""
        self._taken_s[table] = monotonic()

    def may_hide(self, table: TableId) -> bool:
        """Return whether an XA COMMIT of rows of the table was read less than HIDDEN_SECONDS ago. A
        SELECT may then not show these rows yet.
        """
        taken_s = self._taken_s.get(table)
        return taken_s is not None and monotonic() - taken_s < HIDDEN_SECONDS

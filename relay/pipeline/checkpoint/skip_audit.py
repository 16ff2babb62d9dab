"""Records the skipped rows of a transaction in the audit trail, together with the position after
it.
"""

from collections import Counter
from typing import Protocol

from relay.audit import AuditEntry
from relay.model.change import TransactionBegin
from relay.model.message import OutboundMessage
from relay.model.table import TableId

TABLES_NAMED = 200
"""So many tables of one transaction are named, those with the most rows first.

An entry stays far below the smallest message limit.
"""


class EntryMaker(Protocol):
    """Makes messages of audit entries; the audit trail does."""

    def message(self, entry: AuditEntry) -> OutboundMessage:
        """Return an audit entry as a message that joins a batch."""


class SkipAudit:
    """Counts the skipped rows of the open transaction, and keeps the entries of ended ones until
    a batch includes them.
    """

    def __init__(self, trail: EntryMaker, instance: str) -> None:
        self._trail = trail
        self._instance = instance
        self._rows: Counter[str] = Counter()
        self._ended: list[OutboundMessage] = []

    def count(self, table: TableId, rows: int) -> None:
        """Note rows (or a statement, as one) of a real table that are left out."""
        self._rows[str(table)] += rows

    def end(self, begin: TransactionBegin, source: str = "") -> None:
        """The skipped transaction is over; `source` is the one of a group that it is of."""
        named = self._rows.most_common(TABLES_NAMED)
        after = {
            **({"source": source} if source else {}),
            "gtid": begin.gtid,
            "place": str(begin.position),
            "rows": self._rows.total(),
            "rows_by_table": dict(named),
            "more_tables": len(self._rows) - len(named),
        }
        self._ended.append(
            self._trail.message(
                AuditEntry("relay", "transaction.skipped", self._instance, after=after)
            )
        )
        self._rows.clear()

    def taken(self) -> list[OutboundMessage]:
        """Hand the entries over to the batch that commits now."""
        ended, self._ended = self._ended, []
        return ended

"""Writes skipped transactions to the audit trail. An entry is committed in the Kafka transaction
that also moves the position past the skipped one.
"""

from collections import Counter
from typing import Protocol

from relay.audit import AuditEntry
from relay.model.change import TransactionBegin
from relay.model.message import OutboundMessage
from relay.model.table import TableId

TABLES_NAMED = 200
"""Largest number of tables of one transaction that an entry names, those with the most rows first.

With this limit, an entry is far smaller than the smallest message limit.
"""


class EntryMaker(Protocol):
    """Makes messages of audit entries; the audit trail implements it."""

    def message(self, entry: AuditEntry) -> OutboundMessage:
        """Return an audit entry as a message that joins a batch."""


class SkipAudit:
    """Counts the rows of the open transaction, if an operator skips it, and collects the audit
    entries of skipped transactions that have ended.
    """

    def __init__(self, trail: EntryMaker, instance: str) -> None:
        self._trail = trail
        self._instance = instance
        self._rows: Counter[str] = Counter()
        self._ended: list[OutboundMessage] = []

    def count(self, table: TableId, rows: int) -> None:
        """Count skipped rows of a real table; a statement counts as one row."""
        self._rows[str(table)] += rows

    def end(self, begin: TransactionBegin, source: str = "") -> None:
        """Make the audit entry of the skipped transaction that began with `begin`.

        `source` is its source in a group, "" for a single source.
        """
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
        """Return the collected audit entries, for the batch that is committed now, and remove them
        here.
        """
        ended, self._ended = self._ended, []
        return ended

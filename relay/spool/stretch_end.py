"""Tracks the end of a binlog range that grows by whole transactions."""

from collections.abc import Iterable

from relay.model.change import Advance, TransactionEnd
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import LastTransaction, SourcePosition


class StretchEnd:
    """The position after the last transaction of a range.

    It contains the executed GTID set only if the position at the beginning of the range has one.
    Otherwise the set would lack all earlier transactions and be useless.
    """

    def __init__(self, start: SourcePosition) -> None:
        self._binlog = start.binlog
        self._identity = start.identity
        self._keeps_gtids = bool(start.gtid_set)
        self._gtids = GtidSet.parse(start.gtid_set)
        self._last = start.last
        self._added: list[
            str
        ] = []  # merged when the end is requested, because transactions are many

    @property
    def position(self) -> SourcePosition:
        """Return the source position after the last transaction that was added."""
        if self._added:
            self._gtids = self._gtids.with_each(self._added)
            self._added = []
        return SourcePosition(
            self._binlog, str(self._gtids) if self._keeps_gtids else "", self._identity, self._last
        )

    def extend(
        self, border: TransactionEnd | Advance, gtids: Iterable[str], last: LastTransaction | None
    ) -> None:
        """Extend the range to this item, by transactions with these GTIDs.

        `last` is the newest transaction that changed something; None if no transaction did.
        """
        self._binlog, self._identity = border.position, border.identity
        self._last = last or self._last
        if self._keeps_gtids:
            self._added += gtids

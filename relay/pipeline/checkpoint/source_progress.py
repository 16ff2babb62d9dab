"""The progress of one source: the end of its last whole transaction, its GTIDs, its skips, and
how far its schema history was followed.
"""

from collections.abc import Collection, Sequence

from relay.model.change import TransactionBegin, TransactionEnd
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourcePosition
from relay.model.records.followed_names import names_kept
from relay.model.records.last_transaction import last_transaction
from relay.model.records.position_record import OtherSource, PositionRecord


class SourceProgress:
    """The position of one source. `end` is the end of its last transaction, `skips` are the
    GTIDs of coming ones to skip. Transactions are many and commits few: the GTIDs in `ended` are
    collected, and merged when the position is requested. Without `keeps_gtids` there are none:
    an incomplete set would be useless.
    """

    __slots__ = (
        "_follows_names",
        "_gtids",
        "_keeps_gtids",
        "_last",
        "_names",
        "_newest",
        "_standing",
        "end",
        "ended",
        "skips",
    )

    def __init__(self, at: OtherSource, *, keeps_gtids: bool, follows_names: bool) -> None:
        position = at.source
        self.skips = at.skips
        self.ended: list[str] = []
        self.end = TransactionEnd(position.binlog, "", position.identity)
        self._last = position.last
        self._newest: tuple[TransactionBegin, Sequence[bytes]] | None = None
        self._gtids = GtidSet.parse(position.gtid_set)
        self._keeps_gtids = keeps_gtids
        self._names = names_kept(position, at.names)
        self._follows_names = follows_names
        self._standing: tuple[TransactionEnd, OtherSource] | None = None

    def changed(self, begin: TransactionBegin, changes: Sequence[bytes]) -> None:
        """Record the end of a transaction with this begin; its first `changes` identify it.

        One without changes identifies nothing.
        """
        if changes:
            self._newest = begin, changes

    @property
    def standing(self) -> OtherSource:
        """The present position of the source."""
        if self._standing is None or self._standing[0] is not self.end:
            self._gtids = self._gtids.with_each(self.ended)
            self.ended.clear()
            if self._newest is not None:
                self._last, self._newest = last_transaction(*self._newest), None
            end = self.end
            source = SourcePosition(
                end.position,
                str(self._gtids) if self._keeps_gtids else "",
                end.identity,
                self._last,
            )
            names = (
                SourcePosition(end.position, "", end.identity)
                if self._follows_names
                else self._names
            )
            self._standing = end, OtherSource(source, names, self.skips)
        return self._standing[1]


def each_source(
    record: PositionRecord, follows_names: Collection[str], *, keeps_gtids: bool
) -> dict[str, SourceProgress]:
    """Return the sources of a record by name, a single one as ""."""
    return {
        name: SourceProgress(at, keeps_gtids=keeps_gtids, follows_names=name in follows_names)
        for name, at in record.standing.items()
    }

"""Follows the progress of one source: the end of its last whole transaction, its GTIDs, its skips,
and how far its schema history was read.
"""

from collections.abc import Collection, Sequence

from relay.model.change import TransactionBegin, TransactionEnd
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourcePosition
from relay.model.records.followed_names import names_kept
from relay.model.records.last_transaction import last_transaction
from relay.model.records.position_record import OtherSource, PositionRecord


class SourceProgress:
    """The position of one source, which advances when a transaction ends.

    end    the end of its last transaction
    ended  the GTIDs of transactions that are not yet in the position's GTID set; they are merged
           only when the position is requested, because merging is slow
    skips  the GTIDs that an operator wants skipped

    With `keeps_gtids` False, the position has no GTID set, because the set would be incomplete.
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
        """Record an ended transaction as the last one of the source.

        begin    the begin of the transaction
        changes  its first changes, which identify it; without changes the call has no effect

        A switch to a server without GTIDs searches for this transaction there, to prove that the
        server has everything published.
        """
        if changes:
            self._newest = begin, changes

    @property
    def standing(self) -> OtherSource:
        """Return the present position of the source in the form of a position record."""
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
    """Return the progress of every source of a record, by source name; a single source is named "".

    `follows_names` are the sources whose schema history is read. `keeps_gtids` is described at
    SourceProgress.
    """
    return {
        name: SourceProgress(at, keeps_gtids=keeps_gtids, follows_names=name in follows_names)
        for name, at in record.standing.items()
    }

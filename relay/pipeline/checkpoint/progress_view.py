"""The read-only view of the progress, which the publishers use. Only the checkpoint changes the
progress.
"""

from typing import Protocol

from relay.model.change import TransactionBegin
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.records.position_record import PositionRecord
from relay.pipeline.checkpoint.skip_policy import SkipReason


class ProgressView(Protocol):
    """The attributes of `Progress` without the methods that change it, so that a type checker
    refuses assignments.
    """

    @property
    def record(self) -> PositionRecord:
        """Return the position record of this moment."""

    @property
    def begin(self) -> TransactionBegin | None:
        """The begin of the open source transaction, None if none is open."""

    @property
    def whole(self) -> bool:
        """Return whether no source transaction is open."""

    @property
    def between_transactions(self) -> bool:
        """Return whether no source transaction is open, and none was published in part before a
        restart.
        """

    @property
    def leaves_nothing_out(self) -> bool:
        """Return whether every later row will be published: no transaction is published in part, no
        replay runs, and no operator's skip remains.
        """

    @property
    def at(self) -> BinlogPosition:
        """The end of the last whole source transaction, or a later position that the source
        reported without a transaction.
        """

    @property
    def skip_reason(self) -> SkipReason | None:
        """Why the open transaction is not published; None if it is published."""

    @property
    def order(self) -> OrderPair:
        """The order key of the last change."""

    @property
    def epoch(self) -> int:
        """Return the epoch of new order keys."""

    @property
    def items(self) -> int:
        """The number of changes of the open transaction that were taken so far."""

    @property
    def to_skip(self) -> int:
        """The number of the next changes that Kafka already has: they are read again and not
        published.
        """

    @property
    def following(self) -> str:
        """The source of a group that the current items come from, "" for a single source."""

    @property
    def mapping(self) -> MappingName:
        """The mapping set that the open transaction is published under."""

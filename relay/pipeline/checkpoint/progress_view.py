"""The progress as the publishers read it. Only the checkpoint changes it."""

from typing import Protocol

from relay.model.change import TransactionBegin
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.records.position_record import PositionRecord
from relay.pipeline.checkpoint.skip_policy import SkipReason


class ProgressView(Protocol):
    """`Progress` without the methods that change it: a type checker refuses any assignment."""

    @property
    def record(self) -> PositionRecord:
        """Return the position record of this moment."""

    @property
    def begin(self) -> TransactionBegin | None:
        """The begin of the open source transaction, None if none is open."""

    @property
    def whole(self) -> bool:
        """Whether no source transaction is open."""

    @property
    def between_transactions(self) -> bool:
        """Whether no source transaction is open, here or half published before a restart."""

    @property
    def leaves_nothing_out(self) -> bool:
        """Return whether no row is skipped from here on: each order key follows from position and
        time.
        """

    @property
    def at(self) -> BinlogPosition:
        """Return the end of the last whole source transaction, or a later empty position."""

    @property
    def skip_reason(self) -> SkipReason | None:
        """Why the open transaction is not published; usually None."""

    @property
    def order(self) -> OrderPair:
        """The order key of the last change."""

    @property
    def epoch(self) -> int:
        """Return the epoch of new order keys."""

    @property
    def items(self) -> int:
        """Return the number of changes of the open transaction that were processed."""

    @property
    def to_skip(self) -> int:
        """Return how many of the next changes Kafka has already: they are read again, and not
        published.
        """

    @property
    def following(self) -> str:
        """The source of a group that the current items come from, "" for a single source."""

    @property
    def mapping(self) -> MappingName:
        """The mapping set that the open transaction is published under."""

"""What the publishers read of the progress. Only the checkpoint changes it."""

from typing import Protocol

from relay.model.change import TransactionBegin
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import OrderPair
from relay.model.records.position_record import PositionRecord
from relay.pipeline.checkpoint.skip_policy import SkipReason


class ProgressView(Protocol):
    """`Progress` without what changes it: a type checker refuses any assignment."""

    @property
    def record(self) -> PositionRecord:
        """What the position record holds when it is written now."""

    @property
    def begin(self) -> TransactionBegin | None:
        """How the open source transaction began, None between two."""

    @property
    def whole(self) -> bool:
        """Whether no source transaction is open."""

    @property
    def between_transactions(self) -> bool:
        """Whether no source transaction is open, here or half published before a restart."""

    @property
    def leaves_nothing_out(self) -> bool:
        """Whether every row from here on is published, under an order key that its position and
        time make.
        """

    @property
    def skip_reason(self) -> SkipReason | None:
        """Why nothing of the open transaction is published, None for all but a few."""

    @property
    def order(self) -> OrderPair:
        """The order key of the last change."""

    @property
    def epoch(self) -> int:
        """The epoch that order keys are made in."""

    @property
    def items(self) -> int:
        """Changes of the open transaction that were taken."""

    @property
    def to_skip(self) -> int:
        """How many of the next changes are visible already."""

    @property
    def following(self) -> str:
        """The source of a group that the current items are of, "" where there is but one."""

    @property
    def mapping(self) -> MappingName:
        """The mapping set that the open transaction is published under."""

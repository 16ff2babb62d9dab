"""The position record: everything a relay needs to go on exactly where the last one stopped."""

from dataclasses import asdict, dataclass, field
from typing import Any, Final

import orjson

from relay.errors import PositionNewer, PositionUnreadable
from relay.model.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition

FORMAT: Final = 2
"""The newest format that is read. A record is written in the oldest one that holds what it has to say, so that a relay of the version
before can take over in the middle of an upgrade: 1 without `replay` and `skips`, 2 with them."""


@dataclass(frozen=True, slots=True)
class SplitProgress:
    """How much of a source transaction that is published in parts is visible.

    `items_done` counts row changes before filters, and statements, from the transaction's begin. `execute_time`, `mapping_set` and
    `configuration` (a digest of filters and message settings) stay in force to its end, so that a re-read gives the same messages.
    """

    begin: BinlogPosition
    gtid: str
    items_done: int
    execute_time: int
    mapping_set: int
    configuration: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A stretch of the binlog that is read again because the position was moved back by hand.

    Transactions that begin before `publish_from` are read for their pairs alone. Behind `until`, where the instance had been, nothing
    goes below `order`, the pair that it had there.
    """

    publish_from: BinlogPosition
    until: BinlogPosition
    order: OrderPair


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """The end of the last whole source transaction, and the order pair there.

    `change_time_ms` is min(raw change time, relay's clock at publishing), for searches by time. `partitions` keeps the partition
    count that each topic had when the instance first wrote to it, because placement must not move with the topic. `skips` are the
    GTIDs of coming transactions that are left out on an operator's wish. `mapping_set` is the set that the last rows were published
    under, 0 where a relay wrote the record that did not note it. `names` is how far the history of the source's tables was followed, None
    where it never was.
    """

    source: SourcePosition
    order: OrderPair
    epoch: int
    change_time_ms: int
    partitions: dict[str, int] = field(default_factory=dict)
    split: SplitProgress | None = None
    replay: Replay | None = None
    skips: tuple[str, ...] = ()
    mapping_set: int = 0
    names: SourcePosition | None = None

    @property
    def format(self) -> int:
        """The oldest format that holds this record."""
        return 1 if self.replay is None and not self.skips else 2

    def to_bytes(self) -> bytes:
        fields = asdict(self)
        if self.format == 1:
            del fields["replay"], fields["skips"]
        if self.names is None:
            del fields["names"]
        return orjson.dumps({"format": self.format, **fields}, default=_fields)

    @classmethod
    def from_bytes(cls, value: bytes) -> "PositionRecord":
        """Read a record of this or an older format. Raises PositionNewer, or PositionUnreadable for what is none."""
        try:
            fields: dict[str, Any] = orjson.loads(value)
            if fields["format"] > FORMAT:
                raise PositionNewer(f"The position record has format {fields['format']}, this relay knows formats 1 to {FORMAT}.")
            return cls(
                source=_source(fields["source"]),
                order=OrderPair(**fields["order"]),
                epoch=fields["epoch"],
                change_time_ms=fields["change_time_ms"],
                partitions=fields["partitions"],
                split=None if fields["split"] is None else _split(fields["split"]),
                replay=None if fields.get("replay") is None else _replay(fields["replay"]),
                skips=tuple(fields.get("skips", ())),
                mapping_set=fields.get("mapping_set", 0),
                names=None if fields.get("names") is None else _source(fields["names"]),
            )
        except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
            raise PositionUnreadable(f"The position record cannot be read ({exc}).") from exc


def _fields(value: object) -> dict[str, Any]:
    if isinstance(value, BinlogPosition | OrderPair):
        return value._asdict()
    raise TypeError(f"{type(value)} has no place in a position record")


def _source(fields: dict[str, Any]) -> SourcePosition:
    return SourcePosition(BinlogPosition(**fields["binlog"]), fields["gtid_set"], SourceIdentity(**fields["identity"]))


def _split(fields: dict[str, Any]) -> SplitProgress:
    return SplitProgress(**{**fields, "begin": BinlogPosition(**fields["begin"])})


def _replay(fields: dict[str, Any]) -> Replay:
    return Replay(BinlogPosition(**fields["publish_from"]), BinlogPosition(**fields["until"]), OrderPair(**fields["order"]))

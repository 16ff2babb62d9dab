"""The position record: everything a relay needs to go on exactly where the last one stopped."""

from dataclasses import asdict, dataclass, field
from typing import Any, Final

import orjson

from relay.errors import PositionUnreadable
from relay.model.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition

FORMAT: Final = 1


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
class PositionRecord:
    """The end of the last whole source transaction, and the order pair there.

    `change_time_ms` is min(raw change time, relay's clock at publishing), for searches by time. `partitions` keeps the partition
    count that each topic had when the instance first wrote to it, because placement must not move with the topic.
    """

    source: SourcePosition
    order: OrderPair
    epoch: int
    change_time_ms: int
    partitions: dict[str, int] = field(default_factory=dict)
    split: SplitProgress | None = None

    def to_bytes(self) -> bytes:
        return orjson.dumps({"format": FORMAT, **asdict(self)}, default=_fields)

    @classmethod
    def from_bytes(cls, value: bytes) -> "PositionRecord":
        """Read a record. Raises PositionUnreadable for a format this relay does not know, or for anything else that is none."""
        try:
            fields: dict[str, Any] = orjson.loads(value)
            if fields["format"] != FORMAT:
                raise PositionUnreadable(f"The position record has format {fields['format']}, this relay knows {FORMAT}.")
            return cls(
                source=_source(fields["source"]),
                order=OrderPair(**fields["order"]),
                epoch=fields["epoch"],
                change_time_ms=fields["change_time_ms"],
                partitions=fields["partitions"],
                split=None if fields["split"] is None else _split(fields["split"]),
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

"""The position record: everything a relay needs to go on exactly where the last one stopped."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import orjson

from relay.errors import PositionNewer, PositionUnreadable
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import (
    BinlogPosition,
    LastTransaction,
    OrderPair,
    SourceIdentity,
    SourcePosition,
)
from relay.model.records.resume_fingerprint import Landmark, PublishedPlace

FORMAT: Final = 5
"""The newest format that is read.

A record is written in the oldest one that holds what it has to say: 1 without `replay` and `skips`,
2 with them, 3 for a group of sources, 4 for one with `skips`, which are those of one source, 5 with
a digest of a mapping set or of partition rules, or with a split transaction that counts only the
rows that the source kept.
"""


@dataclass(frozen=True, slots=True)
class SplitProgress:
    """How much of a source transaction that is published in parts is visible.

    `items_done` counts row changes before filters, and statements, from the transaction's begin.
    `execute_time`, the mapping set and `configuration` (a digest of filters and message settings)
    stay in force to its end, so that a re-read gives the same messages. `mapping_digest` is "" in
    formats before 5, and without a mapping set. `without_rolled_back` is False in formats before 5,
    which may count rows that the source rolled back.
    """

    begin: BinlogPosition
    gtid: str
    items_done: int
    execute_time: int
    mapping_set: int
    configuration: str
    mapping_digest: str = ""
    without_rolled_back: bool = False

    @property
    def mapping(self) -> MappingName:
        """The set that the transaction is published under."""
        return MappingName(self.mapping_set, self.mapping_digest)


@dataclass(frozen=True, slots=True)
class Replay:
    """A stretch of the binlog that is read again because the position was moved back by hand.

    Transactions that begin before `publish_from` are read for their pairs alone. Behind `until`,
    where the instance had been, nothing goes below `order`, the pair that it had there.
    """

    publish_from: BinlogPosition
    until: BinlogPosition
    order: OrderPair


@dataclass(frozen=True, slots=True)
class OtherSource:
    """Where another source of a group stands, how far the history of its tables was followed (None:
    it never was), and what of it is to be left out.
    """

    source: SourcePosition
    names: SourcePosition | None = None
    skips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """The end of the last whole source transaction, and the order pair there.

    `change_time_ms` is min(raw change time, relay's clock at publishing), for searches by time.
    `partitions` keeps the partition count that each topic had when the instance first wrote to it,
    because placement must not move with the topic. `skips` are the GTIDs of coming transactions
    that are left out on an operator's wish. `mapping_set` and `mapping_digest` name the set that
    the last rows were published under, or that an operator confirmed for the next ones; 0 and ""
    where a relay wrote the record that did not note them. `placed_by` are the digests of the
    partition rules that each topic's rows were placed by; a topic of before format 5 is not among
    them. `kept_mappings` are the sets whose documents the position topic holds: digest → number of
    records. `names` is how far the history of the source's tables was followed, None where it never
    was. For a group, `following` names the source that `source`, `names`, `skips` and a split
    transaction are of; `others` are the further ones. `place` identifies the place on every server
    that replicates it, None where digests are not kept. `rows` differs when other messages are made
    of the same rows, by rules, masks or transforms; "" where nothing is asked of rows.
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
    place: PublishedPlace | None = None
    following: str = ""
    others: dict[str, OtherSource] = field(default_factory=dict)
    rows: str = ""
    mapping_digest: str = ""
    kept_mappings: dict[str, int] = field(default_factory=dict)
    placed_by: dict[str, str] = field(default_factory=dict)

    @property
    def mapping(self) -> MappingName:
        """The set that the record names."""
        return MappingName(self.mapping_set, self.mapping_digest)

    @property
    def named_mappings(self) -> set[str]:
        """The digests of all sets that the record names."""
        split = "" if self.split is None else self.split.mapping_digest
        return {each for each in (self.mapping_digest, split) if each}

    @property
    def as_history_entry(self) -> "PositionRecord":
        """The record as the position history keeps it: a move back takes mapping and partition
        rules from the newest record.
        """
        return replace(self, mapping_digest="", kept_mappings={}, placed_by={})

    @property
    def format(self) -> int:
        """The oldest format that holds this record."""
        counts_kept_rows = self.split is not None and self.split.without_rolled_back
        if self.named_mappings or self.kept_mappings or self.placed_by or counts_kept_rows:
            return 5
        if self.following:
            return 4 if self.skips_some else 3
        return 1 if self.replay is None and not self.skips_some else 2

    @property
    def skips_some(self) -> bool:
        """Whether a coming transaction of any source is to be left out."""
        return any(each.skips for each in self.standing.values())

    @property
    def standing(self) -> dict[str, OtherSource]:
        """Where each source stands, by name; a single one is called ""."""
        return {self.following: OtherSource(self.source, self.names, self.skips), **self.others}

    @property
    def positions(self) -> dict[str, SourcePosition]:
        """The position of each source, by name; a single one is called ""."""
        return {name: each.source for name, each in self.standing.items()}

    def with_source(self, name: str, at: OtherSource) -> "PositionRecord":
        """The record with one source standing elsewhere; a single one is called ""."""
        if name == self.following:
            return replace(self, source=at.source, names=at.names, skips=at.skips)
        return replace(self, others={**self.others, name: at})

    def to_bytes(self) -> bytes:
        """Return the record as JSON, without empty fields that older versions do not know."""
        fields = asdict(self)
        if self.format == 1:
            del fields["replay"], fields["skips"]
        for absent in ("names", "place", "rows", "mapping_digest", "kept_mappings", "placed_by"):
            if not fields[absent]:
                del fields[absent]
        for absent in ("mapping_digest", "without_rolled_back"):
            if self.split is not None and not fields["split"][absent]:
                del fields["split"][absent]
        if not self.following:
            del fields["following"], fields["others"]
        for name, other in self.others.items():
            if not other.skips:
                del fields["others"][name]["skips"]
        _leave_out_unknown(fields)
        return orjson.dumps({"format": self.format, **fields}, default=_fields)

    @classmethod
    def from_bytes(cls, value: bytes) -> "PositionRecord":
        """Read a record of this or an older format.

        Raises PositionNewer, or PositionUnreadable for what is none.
        """
        try:
            fields: dict[str, Any] = orjson.loads(value)
            if fields["format"] > FORMAT:
                raise PositionNewer(fields["format"], FORMAT)
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
                place=None if fields.get("place") is None else _place(fields["place"]),
                following=fields.get("following", ""),
                others={name: _other(each) for name, each in fields.get("others", {}).items()},
                rows=fields.get("rows", ""),
                mapping_digest=fields.get("mapping_digest", ""),
                kept_mappings=fields.get("kept_mappings", {}),
                placed_by=fields.get("placed_by", {}),
            )
        except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
            raise PositionUnreadable(f"The position record cannot be read ({exc}).") from exc


def _fields(value: object) -> dict[str, Any]:
    if isinstance(value, BinlogPosition | OrderPair):
        return value._asdict()
    raise TypeError(f"{type(value)} has no place in a position record")


def _leave_out_unknown(fields: dict[str, Any]) -> None:
    """Take `last` out of positions where it is not known.

    A relay that does not know the field ignores it.
    """
    for standing in (fields, *fields.get("others", {}).values()):
        for position in (standing["source"], standing.get("names")):
            if position is not None and position["last"] is None:
                del position["last"]


def _source(fields: dict[str, Any]) -> SourcePosition:
    last = fields.get("last")
    known = (
        None
        if last is None
        else LastTransaction(**{**last, "begin": BinlogPosition(**last["begin"])})
    )
    return SourcePosition(
        BinlogPosition(**fields["binlog"]),
        fields["gtid_set"],
        SourceIdentity(**fields["identity"]),
        known,
    )


def _other(fields: dict[str, Any]) -> OtherSource:
    names = None if fields["names"] is None else _source(fields["names"])
    return OtherSource(_source(fields["source"]), names, tuple(fields.get("skips", ())))


def _place(fields: dict[str, Any]) -> PublishedPlace:
    landmark = None if fields["landmark"] is None else Landmark(**fields["landmark"])
    return PublishedPlace(**{**fields, "ahead": tuple(fields["ahead"]), "landmark": landmark})


def _split(fields: dict[str, Any]) -> SplitProgress:
    return SplitProgress(**{**fields, "begin": BinlogPosition(**fields["begin"])})


def _replay(fields: dict[str, Any]) -> Replay:
    return Replay(
        BinlogPosition(**fields["publish_from"]),
        BinlogPosition(**fields["until"]),
        OrderPair(**fields["order"]),
    )

"""The position record: all data that a relay needs to continue exactly where the last one
stopped.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import orjson

from relay.errors import PositionNewer, PositionUnreadable
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import BinlogPosition, OrderPair, SourcePosition
from relay.model.records.hashed_forms import HashedForms, forms_of
from relay.model.records.record_fields import (
    fingerprint_from,
    leave_out_unknown,
    position_fields,
    source_from,
)
from relay.model.records.resume_fingerprint import ResumeFingerprint
from relay.model.records.snapshot_progress import SnapshotProgress, leave_out_unpaused
from relay.model.records.transaction_report import TransactionReport

FORMAT: Final = 9
"""The newest format that is read.

A record is written in the oldest one that holds what it has to say: 1 without `replay` and `skips`,
2 with them, 3 for a group of sources, 4 for one with `skips`, which are those of one source, 5 with
a digest of a mapping set or of partition rules, or with a split transaction that counts only the
rows that the source kept, 6 with the progress of snapshots, 7 with a split transaction whose BEGIN
message is published, 8 with forms of hashed keys or a copy paused before its first chunk, 9 with
messages under a second transactional id.
"""

_LEFT_OUT_IF_EMPTY: Final = (
    "names", "place", "rows", "mapping_digest", "kept_mappings", "placed_by", "snapshots",
    "hashed_forms", "formats", "second_id", "highest_set",
)  # fmt: skip

_ABSENT: Final[dict[str, Any]] = {
    "mapping_set": 0, "mapping_digest": "", "following": "", "rows": "", "second_id": False,
    "highest_set": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SplitProgress:
    """The visible part of a source transaction that is published in parts.

    `items_done` counts row changes before filters, and statements, from the transaction's begin.
    `execute_time`, the mapping set and `configuration` (a digest of filters and message settings)
    stay in force to its end, so that a re-read gives the same messages. `mapping_digest` is "" in
    formats before 5, and without a mapping set. `without_rolled_back` is False in formats before 5,
    which may count rows that the source rolled back. `report` contains the counts for its END
    message, None while it has no BEGIN message.
    """

    begin: BinlogPosition
    gtid: str
    items_done: int
    execute_time: int
    mapping_set: int
    configuration: str
    mapping_digest: str = ""
    without_rolled_back: bool = False
    report: TransactionReport | None = None

    @property
    def mapping(self) -> MappingName:
        """The set that the transaction is published under."""
        return MappingName(self.mapping_set, self.mapping_digest)

    def is_of(self, gtid: str, begin: BinlogPosition) -> bool:
        """Return whether this is a part of the transaction with this GTID, which other servers
        keep. Without GTIDs, compare the coordinates of its begin.
        """
        return self.gtid == gtid if self.gtid else self.begin == begin


@dataclass(frozen=True, slots=True)
class Replay:
    """A range of the binlog that is read again because an operator moved the position back.

    Transactions that begin before `publish_from` are read only for their order keys. After `until`,
    the former position, no order key is below `order`, the key at that position.
    """

    publish_from: BinlogPosition
    until: BinlogPosition
    order: OrderPair


@dataclass(frozen=True, slots=True)
class OtherSource:
    """The position of another source of a group, how far its schema history was followed (None:
    never), and its transactions to skip.
    """

    source: SourcePosition
    names: SourcePosition | None = None
    skips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """The end of the last whole source transaction, and the order key there.

    `change_time_ms` is min(raw change time, relay's clock at publishing), for searches by time.
    `partitions` keeps the partition count that each topic had when the instance first wrote to it,
    because a key keeps its partition when the topic grows. `skips` are the GTIDs of coming
    transactions that are skipped by an operator's request. `mapping_set` and `mapping_digest` name
    the set that the last rows were published under, or that an operator confirmed for the next
    ones; 0 and "" if an older relay wrote the record without them. `placed_by` are the digests of
    the partition rules by which each topic's rows were assigned to partitions; topics of formats
    before 5 are missing. `formats` is the message format of each topic, which older relays ignore
    and leave out. `kept_mappings` are the sets whose documents the position topic holds: digest →
    number of records. `names` is how far the schema history of the source was followed,
    None if never. For a group, `following` names the source that `source`, `names`, `skips` and a
    split transaction are of; `others` are the other ones. `place` identifies the position on every
    server that replicates it, None if digests are not kept. `rows` is a digest of the rules, masks
    and transforms that change messages; "" without any. `snapshots` is the progress of each request
    to copy tables, by its id. `second_id`: messages may be on their way under the instance's second
    transactional id, so the next relay fences it as well. `highest_set` is the highest number of a
    set that a record of the instance has named, if `mapping_set` is lower; older relays leave it
    out.
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
    place: ResumeFingerprint | None = None
    following: str = ""
    others: dict[str, OtherSource] = field(default_factory=dict)
    rows: str = ""
    mapping_digest: str = ""
    kept_mappings: dict[str, int] = field(default_factory=dict)
    placed_by: dict[str, str] = field(default_factory=dict)
    snapshots: dict[str, SnapshotProgress] = field(default_factory=dict)
    hashed_forms: HashedForms = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    second_id: bool = False
    highest_set: int = 0

    @property
    def mapping(self) -> MappingName:
        """The set that the record names."""
        return MappingName(self.mapping_set, self.mapping_digest)

    @property
    def highest_number(self) -> int:
        """The highest number of a set that rows of the instance were published under (ADR 89)."""
        split = 0 if self.split is None else self.split.mapping_set
        return max(self.highest_set, self.mapping_set, split)

    def under(self, mapping: MappingName) -> "PositionRecord":
        """Return the record with this set for the next rows; the highest number is kept."""
        highest = self.highest_number if self.highest_number > mapping.number else 0
        number, digest = mapping
        return replace(self, mapping_set=number, mapping_digest=digest, highest_set=highest)

    @property
    def named_mappings(self) -> set[str]:
        """The digests of all sets that the record names."""
        split = "" if self.split is None else self.split.mapping_digest
        return {each for each in (self.mapping_digest, split) if each}

    @property
    def as_history_entry(self) -> "PositionRecord":
        """The record in the position history; a move back takes the rest from the newest record."""
        of_topics: dict[str, Any] = {"placed_by": {}, "hashed_forms": {}, "formats": {}}
        own: dict[str, Any] = {"mapping_digest": "", "kept_mappings": {}, "second_id": False}
        return replace(self, snapshots={}, highest_set=0, **own, **of_topics)

    @property
    def format(self) -> int:
        """The oldest format that holds this record."""
        if self.second_id:
            return 9
        if self.hashed_forms or any(each.paused for each in self.snapshots.values()):
            return 8
        if self.split is not None and self.split.report is not None:
            return 7
        if self.snapshots:
            return 6
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
        """The position of each source, by name; a single source is named ""."""
        return {self.following: OtherSource(self.source, self.names, self.skips), **self.others}

    @property
    def positions(self) -> dict[str, SourcePosition]:
        """The position of each source, by name; a single one is called ""."""
        return {name: each.source for name, each in self.standing.items()}

    def with_source(self, name: str, at: OtherSource) -> "PositionRecord":
        """Return the record with another position for one source; a single source is named ""."""
        if name == self.following:
            return replace(self, source=at.source, names=at.names, skips=at.skips)
        return replace(self, others={**self.others, name: at})

    def to_bytes(self) -> bytes:
        """Return the record as JSON, without empty fields that older versions do not know."""
        fields = asdict(self)
        leave_out_unpaused(fields["snapshots"])
        if self.format == 1:
            del fields["replay"], fields["skips"]
        for absent in _LEFT_OUT_IF_EMPTY:
            if not fields[absent]:
                del fields[absent]
        for absent in ("mapping_digest", "without_rolled_back", "report"):
            if self.split is not None and not fields["split"][absent]:
                del fields["split"][absent]
        if not self.following:
            del fields["following"], fields["others"]
        for name, other in self.others.items():
            if not other.skips:
                del fields["others"][name]["skips"]
        leave_out_unknown(fields)
        return orjson.dumps({"format": self.format, **fields}, default=position_fields)

    @classmethod
    def from_bytes(cls, value: bytes) -> "PositionRecord":
        """Read a record of this or an older format.

        Raises PositionNewer, or PositionUnreadable if it is not a record.
        """
        try:
            fields: dict[str, Any] = orjson.loads(value)
            if fields["format"] > FORMAT:
                raise PositionNewer(fields["format"], FORMAT)
            return cls(
                source=source_from(fields["source"]),
                order=OrderPair(**fields["order"]),
                epoch=fields["epoch"],
                change_time_ms=fields["change_time_ms"],
                partitions=fields["partitions"],
                split=None if fields["split"] is None else _split(fields["split"]),
                replay=None if fields.get("replay") is None else _replay(fields["replay"]),
                skips=tuple(fields.get("skips", ())),
                names=None if fields.get("names") is None else source_from(fields["names"]),
                place=None if fields.get("place") is None else fingerprint_from(fields["place"]),
                others={name: _other(each) for name, each in fields.get("others", {}).items()},
                kept_mappings=fields.get("kept_mappings", {}),
                snapshots={
                    name: SnapshotProgress.from_fields(each)
                    for name, each in fields.get("snapshots", {}).items()
                },
                hashed_forms=forms_of(fields.get("hashed_forms", {})),
                **_of_topics(fields),
                **{name: fields.get(name, absent) for name, absent in _ABSENT.items()},
            )
        except (orjson.JSONDecodeError, KeyError, TypeError) as exc:
            raise PositionUnreadable(f"The position record cannot be read ({exc}).") from exc


def _of_topics(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: fields.get(name, {}) for name in ("placed_by", "formats")}


def _other(fields: dict[str, Any]) -> OtherSource:
    names = None if fields["names"] is None else source_from(fields["names"])
    return OtherSource(source_from(fields["source"]), names, tuple(fields.get("skips", ())))


def _split(fields: dict[str, Any]) -> SplitProgress:
    report = fields.get("report")
    known = None if report is None else TransactionReport.from_fields(report)
    begin = BinlogPosition(**fields["begin"])
    return SplitProgress(**{**fields, "begin": begin, "report": known})


def _replay(fields: dict[str, Any]) -> Replay:
    return Replay(
        BinlogPosition(**fields["publish_from"]),
        BinlogPosition(**fields["until"]),
        OrderPair(**fields["order"]),
    )

"""The position record: all that a relay needs to continue exactly where the last one stopped."""

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
from relay.model.records.snapshot_progress import SnapshotProgress, leave_out_newer
from relay.model.records.transaction_report import TransactionReport

FORMAT: Final = 10
"""The newest format that this version reads. A record is written in the oldest format that can
express it. 2 adds `replay` and `skips`, 3 a group of sources, 4 a group with `skips`. 5 adds
digests of mapping sets and partition rules, and splits that count only rows that the source kept. 6
adds snapshots, 7 splits with a published BEGIN message, 8 forms of hashed keys and copies that were
paused before their first chunk, and 9 messages under a second transactional id. 10 adds copies
whose last key names its character set, or that found keys in another spelling.
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
    """The published part of a source transaction that is published in parts.

    items_done           published row changes (counted before filters) and statements
    execute_time         Unix milliseconds; the same for all parts
    configuration        digest of filters and message settings, which are the same for all parts
    mapping_set, mapping_digest  its mapping set; 0 and "" without one, "" in formats before 5
    without_rolled_back  False in formats before 5, whose count may include rolled-back rows
    report               counts for its END message; None if it has no BEGIN message
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
        """The mapping set under which the transaction is published."""
        return MappingName(self.mapping_set, self.mapping_digest)

    def is_of(self, gtid: str, begin: BinlogPosition) -> bool:
        """Return whether this is the transaction with this GTID, which is the same on other
        servers. Without GTIDs, the coordinates of its begin are compared.
        """
        return self.gtid == gtid if self.gtid else self.begin == begin


@dataclass(frozen=True, slots=True)
class Replay:
    """A range of the binlog that is published again because an operator moved the position back.

    Transactions before `publish_from` are read only to compute order keys. The range ends at
    `until`, the former position. Later order keys are not below `order`, the order key there.
    """

    publish_from: BinlogPosition
    until: BinlogPosition
    order: OrderPair


@dataclass(frozen=True, slots=True)
class OtherSource:
    """The position of a further source of a group, how far its schema history was followed (None:
    never), and the GTIDs of its transactions to skip.
    """

    source: SourcePosition
    names: SourcePosition | None = None
    skips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """The end of the last published source transaction, and all that the next relay needs there.

    source, order, epoch  position of the source `following`, order key and epoch of the last change
    change_time_ms  time of the last change, at most the relay's clock; for searches by time
    partitions      partitions of each topic at the instance's first write; later ones are not used
    split, replay   a transaction published in parts, a range published again; None without one
    skips           GTIDs of coming transactions that an operator skipped
    mapping_set, mapping_digest  the set of the last rows, or the one that an operator confirmed for
                    the next ones; 0 and "" if an older relay wrote the record
    kept_mappings   sets whose documents are in the position topic: digest → number of records
    highest_set     highest number of a set that was named, if `mapping_set` is lower; else 0
    names           how far the schema history of the source was followed; None: never
    following       group: the source that `source`, `names`, `skips` and `split` are about
    others          the other sources of a group
    place           identifies the position on other servers too; None without digests
    rows            digest of the rules, masks and transforms that change messages; "" without any
    placed_by       digest of the partition rules of each topic; missing in formats before 5
    hashed_forms    forms in which keys were hashed (`relay.model.records.hashed_forms`)
    formats         message format of each topic; older relays ignore and omit it
    snapshots       progress of each request to copy tables, by its number
    second_id       messages may have the second transactional id: the next relay fences it
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
        """The mapping set that the record names."""
        return MappingName(self.mapping_set, self.mapping_digest)

    @property
    def highest_number(self) -> int:
        """The highest number of a mapping set under which rows of the instance were published (ADR
        89).
        """
        split = 0 if self.split is None else self.split.mapping_set
        return max(self.highest_set, self.mapping_set, split)

    def under(self, mapping: MappingName) -> "PositionRecord":
        """Return the record with another set for the next rows; `highest_number` is kept."""
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
        """The record in the form of the position history. It lacks the fields that are taken from
        the newest record when an operator moves the position back.
        """
        of_topics: dict[str, Any] = {"placed_by": {}, "hashed_forms": {}, "formats": {}}
        own: dict[str, Any] = {"mapping_digest": "", "kept_mappings": {}, "second_id": False}
        return replace(self, snapshots={}, highest_set=0, **own, **of_topics)

    @property
    def format(self) -> int:
        """The oldest format that holds this record."""
        counts_kept_rows = self.split is not None and self.split.without_rolled_back
        named = self.named_mappings or self.kept_mappings or self.placed_by or counts_kept_rows
        of_group = 4 if self.skips_some else 3
        return max(
            1 if self.replay is None and not self.skips_some else 2,
            of_group if self.following else 1,
            5 if named else 1,
            *(each.record_format for each in self.snapshots.values()),
            7 if self.split is not None and self.split.report is not None else 1,
            8 if self.hashed_forms else 1,
            9 if self.second_id else 1,
        )

    @property
    def skips_some(self) -> bool:
        """Whether a coming transaction of any source will be skipped."""
        return any(each.skips for each in self.standing.values())

    @property
    def standing(self) -> dict[str, OtherSource]:
        """Position, names and skips of each source, by name; the name of a single source is ""."""
        return {self.following: OtherSource(self.source, self.names, self.skips), **self.others}

    @property
    def positions(self) -> dict[str, SourcePosition]:
        """The position of each source, by name; the name of a single source is ""."""
        return {name: each.source for name, each in self.standing.items()}

    def with_source(self, name: str, at: OtherSource) -> "PositionRecord":
        """Return the record with another position for one source; the name of a single source is
        "".
        """
        if name == self.following:
            return replace(self, source=at.source, names=at.names, skips=at.skips)
        return replace(self, others={**self.others, name: at})

    def to_bytes(self) -> bytes:
        """Return the record as JSON. Empty fields that older versions do not know are omitted."""
        fields = asdict(self)
        leave_out_newer(fields["snapshots"])
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

        Raises PositionNewer for a newer format, and PositionUnreadable for anything else.
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

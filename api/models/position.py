"""Bodies of requests and answers about positions and their moves."""

from pydantic import BaseModel, Field, model_validator

from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.operations import (
    Preview,
    RepartitionPlan,
    Shown,
    foretold,
    position_fields,
    repartitioned,
)


class SourcePlace(BaseModel):
    """The binlog coordinates of one source of a group."""

    file: str
    offset: int
    gtid_set: str
    skips: list[str] = Field(
        default=[], description="GTIDs of its coming transactions that are left out."
    )


class PositionView(BaseModel):
    """The committed position of an instance, read from Kafka. The fields are null if the instance
    has never published.
    """

    instance: str
    leader: str | None = Field(description="The leading relay; null: none.")
    file: str | None = None
    offset: int | None = None
    gtid_set: str | None = None
    sources: dict[str, SourcePlace] = Field(
        default={}, description="The position of each source of a group, by name."
    )
    execute_time: int | None = Field(default=None, description="Unix milliseconds.")
    execute_position: str | None = Field(default=None, description="A number of 63 bits as text.")
    epoch: int | None = None
    format: int | None = None
    half_published: str | None = Field(
        default=None, description="The transaction that is published in part."
    )
    replay_until: str | None = Field(
        default=None, description="The position up to which a move back publishes rows again."
    )
    skips: list[str] = Field(
        default=[],
        description="GTIDs of coming transactions that are left out; of a group: `sources`.",
    )
    back_to: list[str] = Field(
        default=[],
        description="Positions of this epoch with known order keys, the oldest first, at most 100.",
    )

    @classmethod
    def of(cls, instance: str, shown: Shown) -> "PositionView":
        """Return the view of a position, with at most 100 earlier positions."""
        return cls.model_validate(position_fields(instance, shown))


class Confirmed(BaseModel):
    """The confirmation of an act on a position: the instance's name, typed again."""

    confirm: str = Field(
        description="The instance's name, repeated as a confirmation.", examples=["shop"]
    )


class OneSource(BaseModel):
    """Names the source of a group that the request concerns; leave it out for an instance with one
    source.
    """

    source: str | None = Field(default=None, description="Of a group: the source's name.")


class Place(OneSource):
    """The target of a move: the begin of a transaction, named by binlog coordinates or by the set
    of all GTIDs before it.
    """

    file: str | None = Field(default=None, examples=["mysql-bin.000042"])
    offset: int | None = Field(default=None, ge=4, examples=[4711])
    gtid_set: str | None = Field(
        default=None,
        description="The GTIDs that the source had executed before the position. With `file` "
        "and `offset` the GTIDs are checked; without `file` and `offset` they are the position.",
    )
    as_new: bool = Field(
        default=False, description="Publish the next rows with new order keys, under a new epoch."
    )

    @model_validator(mode="after")
    def _names_a_place(self) -> "Place":
        if (self.file is None) is not (self.offset is None):
            raise ValueError("file and offset must be given together")
        if self.file is None and self.gtid_set is None:
            raise ValueError("give file and offset, or gtid_set")
        return self

    @property
    def coordinates(self) -> BinlogPosition | None:
        """The binlog coordinates; None if the request has only the GTID set."""
        if self.file is None or self.offset is None:
            return None
        return BinlogPosition(self.file, self.offset)


class FoundPlace(BaseModel):
    """The last transaction boundary before a time."""

    file: str
    offset: int
    gtid_set: str = Field(
        description="GTIDs that the source had executed before the position; empty without GTIDs."
    )

    @classmethod
    def of(cls, place: SourcePosition) -> "FoundPlace":
        """Return the coordinates that `roma position set` accepts."""
        return cls(file=place.binlog.file, offset=place.binlog.offset, gtid_set=place.gtid_set)


class Move(Place, Confirmed):
    """The order to move an instance's position, with the confirmation."""


class SkipWish(OneSource):
    """A future transaction to skip; with `undo`, its skip is withdrawn."""

    gtid: str
    undo: bool = False


class Skip(SkipWish, Confirmed):
    """The order to skip a future transaction, or with `undo` to withdraw that order."""


class FloorWish(BaseModel):
    """The instance above whose last order key an instance's order keys are raised."""

    above: str


class Floor(FloorWish, Confirmed):
    """The request to raise an instance's order keys above the last order key of the instance
    `above`.
    """


class ActPreview(BaseModel):
    """The effect of an act, in sentences. Nothing was changed."""

    sentences: list[str]


class MovePreview(BaseModel):
    """The effect of moving an instance's position."""

    kind: str = Field(description="`forward`, `back` or `as new`.")
    file: str = Field(description="The binlog file of the new position.")
    offset: int = Field(description="The offset of the new position in `file`.")
    sentences: list[str]
    distance_bytes: int | None = Field(
        description="Bytes of binlog between the present and the new position; null where the "
        "source does not have them all."
    )
    files: int | None = Field(
        description="Binlog files that hold these bytes; null where the source does not have them."
    )
    gtids: str
    transactions: int | None = Field(
        description="How many transactions `gtids` has; null without GTIDs, and on MariaDB."
    )
    rows: int | None = Field(
        description="Rows of published tables between the two positions; null where they cannot be "
        "counted."
    )
    rows_are_whole: bool = Field(
        description="False: the binlog between the two positions was not read to its end, so there "
        "may be more rows."
    )
    tables: dict[str, int] = Field(description="These rows by logical table, the most first.")
    epoch: int

    @classmethod
    def of(cls, instance: str, preview: Preview) -> "MovePreview":
        """Return the view of a preview, with the sentences that the command line prints."""
        return cls(
            kind=preview.reposition.kind.value,
            file=preview.reposition.target.binlog.file,
            offset=preview.reposition.target.binlog.offset,
            sentences=foretold(instance, preview).splitlines(),
            distance_bytes=preview.distance_bytes,
            files=preview.files,
            gtids=preview.gtids,
            transactions=preview.transactions,
            rows=None if preview.between is None else preview.between.rows,
            rows_are_whole=preview.between is not None and preview.between.is_whole,
            tables={} if preview.between is None else dict(preview.between.tables),
            epoch=preview.reposition.after.epoch,
        )


class Repartitioning(BaseModel):
    """A topic whose rows must be partitioned by the instance's present settings from now on."""

    topic: str
    partitions: int | None = Field(
        default=None, ge=1, description="The new number of partitions; default: `partitions_num`."
    )
    table: str | None = Field(
        default=None,
        description=(
            "Accept that keys of this logical table move, because a key column has another type "
            "or character set; the partition settings stay."
        ),
    )


class RepartitionOrder(Repartitioning, Confirmed):
    """The order to repartition a topic: the fields of the preview, and the confirmation."""

    without: str | None = Field(
        default=None, description="Another instance of the topic that is permanently removed."
    )


class RepartitionView(BaseModel):
    """The effect of a repartitioning on the topic's consumers."""

    topic: str
    partitions_before: int
    partitions: int
    moved_share: float = Field(
        description="Share of evenly spread keys that get another partition by the number alone."
    )
    rules_differ: bool = Field(
        description="Other rules of the hash: any key may get another partition."
    )
    waits_for: list[str] = Field(
        description=(
            "Instances that feed the topic and place rows otherwise; this one waits for them."
        )
    )
    sentences: list[str]

    @classmethod
    def of(cls, instance: str, plan: RepartitionPlan) -> "RepartitionView":
        """Return the view of a plan."""
        return cls(
            topic=plan.topic,
            partitions_before=plan.before,
            partitions=plan.after.partitions,
            moved_share=float(plan.moved),
            rules_differ=plan.rules_differ,
            waits_for=sorted(plan.others),
            sentences=repartitioned(instance, plan).splitlines(),
        )

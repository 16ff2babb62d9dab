"""Reads a job's configuration (TOML) into frozen models: unknown keys are errors, secrets are never
printed.
"""

from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, SecretStr, model_validator

from relay.errors import ConfigurationError
from relay.settings import Settings, read_settings
from spark_jobs.config.copy import BootstrapSettings, ReconcileSettings, SourceServer
from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.config.mysql import MirrorSettings
from spark_jobs.errors import JobConfigurationError

_WILDCARDS: Final = frozenset("*?[]{}\\")


def _one_folder(place: str) -> str:
    """Refuse a path that Spark reads as a pattern: a copy there would be written, but never
    found again.
    """
    if found := sorted(_WILDCARDS.intersection(place)):
        raise ValueError(
            f"Spark treats {' '.join(found)} in a path as a pattern: choose a folder name "
            "without it"
        )
    return place


Place: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_one_folder)]
"""A folder, as a path or a URI."""


class SchemaPolicy(Settings):
    """How a copy follows schema changes of its table."""

    added: Literal["add", "ignore", "stop"] = "add"
    """A new column: `add` it, `ignore` it, or `stop`."""
    retyped: Literal["widen", "stop"] = "widen"
    """Another type: `widen` to a type that holds old and new values (text where nothing else does),
    or `stop`.
    """
    dropped: Literal["keep", "drop", "stop"] = "keep"
    """A dropped column: `keep` it, null in later rows; `drop` it from the copy; or `stop`."""
    renamed: Literal["add", "follow"] = "add"
    """A renamed column: `add` the new name as a column and keep the old one.

    Or `follow`, which moves the values of older rows to the new name and needs `truncate =
    "follow"` and `sink = "delta"`.
    """


class DeltaSettings(Settings):
    """How Delta copies are created. An existing copy keeps the settings of its creation."""

    deletion_vectors: bool | Literal["auto"] = "auto"
    """`true`: a replaced row is only marked as removed, and its file is not written again; fewer
    readers can read such a copy.

    `auto`: only for copies that need column mapping, which such readers refuse anyway.
    """


class KafkaSource(Settings):
    """The topics to read, and how Kafka is reached."""

    bootstrap_servers: str
    """Brokers as `host:port`, separated by commas."""
    topics: Annotated[tuple[str, ...], Field(min_length=1)]
    """Topics by name; each must exist."""
    client: dict[str, str] = Field(default_factory=dict)
    """Further settings of Kafka's Java client, passed unchanged."""
    jaas: SecretStr | None = None
    """`sasl.jaas.config`; never printed."""
    max_offsets_per_trigger: Annotated[int, Field(ge=1)] | None = None
    """Largest number of offsets in one batch; transaction markers use offsets too.

    Not set: no limit. `roma dedup batch` does not use it.
    """
    patience_seconds: Annotated[float, Field(ge=1)] = 60
    """Seconds that no broker may answer before the job ends."""


class JobSettings(Settings):
    """One dedup job: topics → one copy for each logical table."""

    kafka: KafkaSource
    """The topics."""
    copy_root: Place
    """Folder of the copies and of the job's own tables (quarantine, history): a path or a URI that
    Spark reaches (`hdfs://…`, `s3a://…`).
    """
    copy_writers: Literal["several", "one"] = "several"
    """`one` promises that no two jobs write below `copy_root` at the same time.

    It is required on S3, which does not prevent two jobs from overwriting each other's commits.
    """
    sink: Literal["delta", "hbase", "jdbc", "parquet"] = "delta"
    """Kind of store that holds the copies."""
    hbase: HBaseSettings | None = None
    """HBase, for `sink = "hbase"`."""
    mirror: MirrorSettings | None = None
    """The database server, for `sink = "jdbc"`."""
    schema_changes: SchemaPolicy = SchemaPolicy()
    """What a copy does when its table changes."""
    delta: DeltaSettings = DeltaSettings()
    """How Delta copies are made."""
    raw_rule: bool = False
    """Order changes by es and the raw binlog offset. This order is wrong; it exists to demonstrate
    the effect.
    """
    row_images: Literal["full", "merge"] = "full"
    """`merge` accepts messages with a part of their row (MINIMAL, NOBLOB); `full` refuses them."""
    value_style: Literal["exact", "canal"] = "exact"
    """The relay's `message.value_style`."""
    truncate: Literal["quarantine", "follow"] = "quarantine"
    """`follow` removes the rows of a real table from the copy when it is truncated, which
    requires the relay's full headers; `quarantine` stores the statement in the quarantine.
    """
    history: bool = False
    """Store every version of every row in addition to the newest one."""
    guards_days: Annotated[float, Field(gt=0)] | None = None
    """Days, in execute time, for which copies keep the keys of deleted rows.

    A change that is older than that is quarantined if it could restore a deleted row. Not set:
    the keys are kept without a limit.
    """
    tidy_minutes: Annotated[float, Field(ge=0)] | None = 60
    """Minutes between compactions by a stream. 0: after each batch.

    A batch job always compacts.
    """
    metrics_host: str = "127.0.0.1"
    """Address of the stream's metrics."""
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    """Port of the stream's metrics. 0: a free one. Not set: no metrics."""
    checkpoint: Place | None = None
    """Folder or URI of the stream's progress, one for each job. `roma dedup stream` needs it."""
    trigger_seconds: Annotated[float, Field(gt=0)] | None = None
    """Shortest interval between two batches in seconds.

    Not set: process the present messages, then end.
    """
    master: str | None = None
    """Spark master. Not set: that of spark-submit, otherwise all cores of this machine."""
    shuffle_partitions: Annotated[int, Field(ge=1)] = 4
    """Pieces into which a batch is cut between steps; about the number of cores."""
    merge_threads: Annotated[int, Field(ge=1, le=64)] = 4
    """Largest number of tables of a batch that are merged at the same time."""
    jvm_options: str = ""
    """Options for the job's own JVM, added after the built-in ones."""
    jars: tuple[Path, ...] = ()
    """Jar files of the Kafka source and Delta Lake, with all that they need.

    Empty: Spark fetches them.
    """
    installation: str = "roma"
    """The relay's `installation`, which its position topics are named after (bootstrap,
    reconcile).
    """
    mapping: tuple[Path, ...] = ()
    """Mapping documents as files or folders, named as for `roma mapping check` (bootstrap,
    reconcile).
    """
    sources: tuple[SourceServer, ...] = ()
    """The source servers (bootstrap, reconcile)."""
    bootstrap: BootstrapSettings = BootstrapSettings()
    """How the first copy is made."""
    reconcile: ReconcileSettings = ReconcileSettings()
    """How source and copy are compared."""

    @model_validator(mode="after")
    def _the_sink_is_described(self) -> "JobSettings":
        for sink, section, given in (
            ("hbase", "hbase", self.hbase),
            ("jdbc", "mirror", self.mirror),
        ):
            if (self.sink == sink) != (given is not None):
                raise ValueError(
                    f"the section [{section}] is needed for sink = '{sink}', and "
                    "allowed only with it"
                )
        if self.sink == "hbase" and self.raw_rule:
            raise ValueError(
                "raw_rule needs another sink: HBase's cells need the order key's position, and "
                "raw offsets decrease"
            )
        if self.sink in ("jdbc", "parquet") and self.schema_changes.dropped != "keep":
            raise ValueError(
                f"sink = '{self.sink}' keeps dropped columns: leave schema_changes.dropped at "
                f"'keep'"
            )
        return self

    @model_validator(mode="after")
    def _truncates_can_be_followed(self) -> "JobSettings":
        if self.truncate == "follow" and (
            self.raw_rule or self.row_images == "merge" or self.sink == "hbase"
        ):
            raise ValueError(
                "truncate = 'follow' needs the order key, row_images = 'full', and another sink "
                "than hbase"
            )
        return self

    @property
    def needs_instances(self) -> bool:
        """Whether the sink must know the instances that publish a table."""
        return self.hbase is not None and self.hbase.refuses_several_instances

    @property
    def follows_renames(self) -> bool:
        """Whether copies follow renames of columns."""
        return self.schema_changes.renamed == "follow"

    @model_validator(mode="after")
    def _renames_can_be_followed(self) -> "JobSettings":
        if not self.follows_renames:
            return self
        if self.truncate != "follow" or self.sink != "delta" or self.history:
            raise ValueError(
                "schema_changes.renamed = 'follow' needs truncate = 'follow', sink = 'delta' and "
                "history = false"
            )
        if self.schema_changes.added != "add" or self.schema_changes.dropped != "keep":
            raise ValueError(
                "schema_changes.renamed = 'follow' needs added = 'add' and dropped = 'keep'"
            )
        return self

    @model_validator(mode="after")
    def _each_source_is_named_once(self) -> "JobSettings":
        if len({each.key for each in self.sources}) < len(self.sources):
            raise ValueError(
                "two [[sources]] have the same instance and name; those of a group need "
                "different names"
            )
        return self

    @model_validator(mode="after")
    def _merging_is_possible(self) -> "JobSettings":
        if self.row_images != "merge":
            return self
        if self.raw_rule or self.schema_changes.dropped != "keep":
            raise ValueError(
                "row_images = 'merge' needs the order key and schema_changes.dropped = 'keep'"
            )
        if self.sink != "delta" or self.history:
            raise ValueError(
                "row_images = 'merge' needs sink = 'delta' and history = false: other sinks and "
                "the history replace whole rows, and the columns that a message lacks would be lost"
            )
        return self


def load_settings(path: Path) -> JobSettings:
    """Return the settings in a TOML file; `${NAME}` in a string is taken from the environment.

    Raises JobConfigurationError, which names the invalid key.
    """
    try:
        return read_settings(JobSettings, path, "")
    except ConfigurationError as exc:
        raise JobConfigurationError(exc.reason) from exc

"""A job's configuration (TOML) as frozen models: unknown keys are errors, secrets are never printed."""

from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, SecretStr, model_validator

from relay.errors import ConfigurationError
from relay.settings import Settings, read_settings
from spark_jobs.copy_settings import BootstrapSettings, ReconcileSettings, SourceServer
from spark_jobs.errors import JobConfigurationError
from spark_jobs.hbase.settings import HBaseSettings
from spark_jobs.mirror.settings import MirrorSettings

_WILDCARDS: Final = frozenset("*?[]{}\\")


def _one_folder(place: str) -> str:
    """A copy at a place that Spark reads as a pattern would be written, and never found again."""
    if found := sorted(_WILDCARDS.intersection(place)):
        raise ValueError(f"to Spark, {' '.join(found)} in a path stands for other paths: name a folder without it")
    return place


Place: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_one_folder)]
"""A folder, as a path or a URI."""


class SchemaPolicy(Settings):
    """What a copy does when its table changes.

    `added`: "add" the column, "ignore" it, or "stop". `retyped`: "widen" to a type that holds old and new values (text where nothing else
    does), or "stop". `dropped`: "keep" the column, null in rows that change from then on, "drop" it from the copy, or "stop".
    """

    added: Literal["add", "ignore", "stop"] = "add"
    retyped: Literal["widen", "stop"] = "widen"
    dropped: Literal["keep", "drop", "stop"] = "keep"


class KafkaSource(Settings):
    """Which topics are read. `client` holds further Kafka client settings (security.protocol, sasl.*) as they are.

    `patience_seconds`: how long a broker may be silent before the job ends and says so.
    """

    bootstrap_servers: str
    topics: Annotated[tuple[str, ...], Field(min_length=1)]
    client: dict[str, str] = Field(default_factory=dict)
    jaas: SecretStr | None = None
    max_offsets_per_trigger: Annotated[int, Field(ge=1)] | None = None
    patience_seconds: Annotated[float, Field(ge=1)] = 60


class JobSettings(Settings):
    """One dedup job: topics → one copy per logical table.

    `sink` says what keeps the copies; the job's own tables (quarantine, history) are Delta tables below `copy_root` in any case.
    `raw_rule` orders changes by es and the raw binlog offset, which is known to be wrong, instead of the order pair.
    `row_images`: "merge" takes messages that hold a part of their row (MINIMAL, NOBLOB), column by column; "full" refuses them.
    `value_style` is the relay's `message.value_style`. `history` keeps every version of every row beside the newest.
    `copy_root` and `checkpoint` are paths, or URIs of a file system that Spark reaches (hdfs://, s3a://).
    `copy_writers`: "one" promises that no two jobs write below copy_root at the same time; S3 does not keep them apart.
    `guards_days`: how long deleted keys are remembered, counted in execute time; what comes later is put aside. None: for ever.
    `tidy_minutes`: how often a stream compacts what it wrote (0: after each batch); None: never.
    `metrics_port`: where a stream serves its metrics for Prometheus; None: nowhere.
    `trigger_seconds` None: take what is there, then end. `checkpoint` is the stream's memory and belongs to one job alone.
    `master` None: what spark-submit says; without it, all cores of this machine.
    `merge_threads`: how many tables of a batch are merged at the same time. `jvm_options` are added to the driver's own.
    `installation`, `mapping` (documents or folders of them) and `sources` are for bootstrap and reconcile, as are their sections.
    """

    kafka: KafkaSource
    copy_root: Place
    copy_writers: Literal["several", "one"] = "several"
    sink: Literal["delta", "hbase", "jdbc", "parquet"] = "delta"
    hbase: HBaseSettings | None = None
    mirror: MirrorSettings | None = None
    schema_changes: SchemaPolicy = SchemaPolicy()
    raw_rule: bool = False
    row_images: Literal["full", "merge"] = "full"
    value_style: Literal["exact", "canal"] = "exact"
    history: bool = False
    guards_days: Annotated[float, Field(gt=0)] | None = None
    tidy_minutes: Annotated[float, Field(ge=0)] | None = 60
    metrics_host: str = "127.0.0.1"
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    checkpoint: Place | None = None
    trigger_seconds: Annotated[float, Field(gt=0)] | None = None
    master: str | None = None
    shuffle_partitions: Annotated[int, Field(ge=1)] = 4
    merge_threads: Annotated[int, Field(ge=1, le=64)] = 4
    jvm_options: str = ""
    jars: tuple[Path, ...] = ()
    installation: str = "roma"
    mapping: tuple[Path, ...] = ()
    sources: tuple[SourceServer, ...] = ()
    bootstrap: BootstrapSettings = BootstrapSettings()
    reconcile: ReconcileSettings = ReconcileSettings()

    @model_validator(mode="after")
    def _the_sink_is_described(self) -> "JobSettings":
        for sink, section, given in (("hbase", "hbase", self.hbase), ("jdbc", "mirror", self.mirror)):
            if (self.sink == sink) != (given is not None):
                raise ValueError(f"the section [{section}] and sink = '{sink}' go together")
        if self.sink == "hbase" and self.raw_rule:
            raise ValueError("raw_rule needs another sink: HBase's cells carry the order pair's position, a raw offset goes back")
        if self.sink in ("jdbc", "parquet") and self.schema_changes.dropped != "keep":
            raise ValueError(f"sink = '{self.sink}' keeps dropped columns: leave schema_changes.dropped at 'keep'")
        return self

    @model_validator(mode="after")
    def _each_source_is_named_once(self) -> "JobSettings":
        if len({each.key for each in self.sources}) < len(self.sources):
            raise ValueError("two [[sources]] have the same instance and name; those of a group are told apart by their names")
        return self

    @model_validator(mode="after")
    def _merging_is_possible(self) -> "JobSettings":
        if self.row_images == "merge" and (self.raw_rule or self.schema_changes.dropped != "keep"):
            raise ValueError("row_images = 'merge' needs the order pair and schema_changes.dropped = 'keep'")
        return self


def load_settings(path: Path) -> JobSettings:
    """Read and check the file; `${NAME}` in a string is taken from the environment. Raises JobConfigurationError naming the place."""
    try:
        return read_settings(JobSettings, path, "")
    except ConfigurationError as exc:
        raise JobConfigurationError(exc.reason) from exc

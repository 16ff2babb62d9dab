"""The configuration file (TOML) as frozen models: unknown keys are errors, secrets are never printed, defaults are the safe value."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from relay.errors import ConfigurationError

Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Checked = TypeVar("Checked", bound=BaseModel)
Port: TypeAlias = Annotated[int, Field(ge=1, le=65535)]


class Settings(BaseModel):
    """Base of every settings model."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class KafkaSettings(Settings):
    """How to reach Kafka. `client` holds further librdkafka settings (security.protocol, sasl.*, ssl.*) as they are.

    `queue_bytes` is how much the client holds before it makes the relay wait (never less than two of the largest messages). What is
    little stays in the processor's caches; many brokers or long round trips want a `batch_bytes` for each broker, and more. Where rows go
    to many partitions, 128 KB for each are held, up to 32 MB in all: a request carries the messages of one partition.
    """

    bootstrap_servers: str
    client: dict[str, str | int | bool] = {}
    password: SecretStr | None = None
    compression: Literal["none", "lz4", "snappy", "zstd", "gzip"] = "lz4"
    batch_bytes: Annotated[int, Field(ge=1)] = 1_000_000
    linger_ms: Annotated[float, Field(ge=0)] = 5
    queue_bytes: Annotated[int, Field(ge=1)] = 4_000_000
    message_max_bytes: Annotated[int, Field(ge=1000)] = 1_000_000
    replication_factor: Annotated[int, Field(ge=1)] = 3
    min_insync_replicas: Annotated[int, Field(ge=1)] = 2


class ZooKeeperSettings(Settings):
    """How to reach ZooKeeper; everything of the relay lies below `root`.

    A standby takes over when a leader was silent for `session_timeout_seconds`; Kafka's fence makes a short one safe.
    """

    hosts: str
    root: str = "/roma"
    session_timeout_seconds: Annotated[float, Field(gt=0)] = 2


class PlacementSettings(Settings):
    """Which relay runs what. `server` names the machine in preferences, moves and maintenance; None: its host name.

    An instance moves for preference or balance when that has been right for `rebalance_seconds`.
    """

    server: Name | None = None
    rebalance_seconds: Annotated[float, Field(ge=0)] = 10


class TlsSettings(Settings):
    """How a connection to a database server is kept from others, in the words of MySQL's clients.

    `tls` None: "verify_identity" with `tls_ca`, "required" with `tls_cert` or `tls_legacy`, else "preferred" (on this machine's own
    loopback "disabled").
    The "verify" modes check the certificate against `tls_ca`, else against the system's authorities, and "verify_identity" the name too.
    `tls_legacy` lets TLS 1.0 and 1.1 pass, all that MySQL 5.6 and early releases of 5.7 speak.
    """

    tls: Literal["disabled", "preferred", "required", "verify_ca", "verify_identity"] | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_legacy: bool = False

    @model_validator(mode="after")
    def _tls_fits_together(self) -> "TlsSettings":
        if self.tls_key is not None and self.tls_cert is None:
            raise ValueError("tls_key belongs to a tls_cert")
        if self.tls in ("disabled", "preferred") and (self.tls_ca or self.tls_cert):
            raise ValueError(f"tls = '{self.tls}' looks at no tls_ca and shows no tls_cert")
        if self.tls in ("disabled", "preferred") and self.tls_legacy:
            raise ValueError("tls_legacy belongs to a TLS that is required")
        if self.tls == "required" and self.tls_ca:
            raise ValueError("tls = 'required' looks at no tls_ca: 'verify_ca' and 'verify_identity' do")
        return self


class StandbySettings(TlsSettings):
    """The server that takes the source's place when that fails. What is not set is as at the source itself."""

    host: str
    port: Port = 3306
    user: str | None = None
    password: SecretStr | None = None


class SourceSettings(TlsSettings):
    """One MySQL or MariaDB server, read as a replica. `server_id` None: a number that no other replica of the source has.

    `names` says where columns get their names from: "table_map" wants binlog_row_metadata=FULL, "history" follows the source's tables,
    "auto" does so where the source's metadata is not FULL. `statements` "publish" takes a source whose binlog_format is MIXED or STATEMENT.
    """

    host: str
    port: Port = 3306
    user: str
    password: SecretStr = SecretStr("")
    server_id: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = None
    gtid: bool = True
    heartbeat_seconds: Annotated[float, Field(gt=0)] = 1
    read_timeout_seconds: Annotated[float, Field(gt=0)] = 15
    connect_timeout_seconds: Annotated[float, Field(gt=0)] = 10
    standby: StandbySettings | None = None
    names: Literal["auto", "table_map", "history"] = "auto"
    statements: Literal["refuse", "publish"] = "refuse"

    @model_validator(mode="after")
    def _standby_is_another_server(self) -> "SourceSettings":
        if self.standby is not None and (self.standby.host, self.standby.port) == (self.host, self.port):
            raise ValueError("standby has the address of the source itself")
        return self

    def at_standby(self) -> "SourceSettings | None":
        """The same settings with the standby's address and login; None where there is no standby."""
        if self.standby is None:
            return None
        theirs = {name: value for name, value in self.standby if value is not None and name in self.standby.model_fields_set | {"port"}}
        return self.model_copy(update={**theirs, "standby": None})


class FailoverSettings(Settings):
    """When the source's place is taken by its standby, in the words of Canal's settings.

    `heartbeat_ha_enable` lets failed heartbeats alone decide; without it an operator does. `virtual_address` says that another server
    may come to stand at the source's address. Without GTIDs nothing proves what a standby holds: `switch_without_gtid` "stop" stands
    still, "fallback" goes back by `fallback_interval_seconds` and repeats what lies between.
    """

    detecting_enable: bool = True
    detecting_interval_seconds: Annotated[float, Field(gt=0)] = 3
    retry_threshold: Annotated[int, Field(ge=1)] = 3
    heartbeat_ha_enable: bool = False
    virtual_address: bool = False
    switch_without_gtid: Literal["stop", "fallback"] = "stop"
    fallback_interval_seconds: Annotated[float, Field(ge=0)] = 60


class StartSettings(Settings):
    """Where an instance without a saved position starts: a place by name, a time, or the ends of what the server has.

    Without `at` the first of these that is set counts: journal_name with position, journal_name with timestamp, journal_name alone
    (the beginning of that file), timestamp alone; with none of them set the end. A timestamp is a time with its zone, or Unix milliseconds.
    """

    at: Literal["end", "oldest", "position", "timestamp"] = "end"
    journal_name: str | None = None
    position: Annotated[int, Field(ge=4)] | None = None
    timestamp: AwareDatetime | None = None

    @model_validator(mode="before")
    @classmethod
    def _first_that_is_set(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("at") is not None:
            return values
        named, placed, timed = (values.get(name) is not None for name in ("journal_name", "position", "timestamp"))
        at = "timestamp" if timed and not (named and placed) else "position" if named or placed else "end"
        return {**values, "at": at}

    @model_validator(mode="after")
    def _place_is_whole(self) -> "StartSettings":
        if self.at in ("end", "oldest") and (self.journal_name or self.position or self.timestamp):
            raise ValueError(f"journal_name, position and timestamp do not belong to at = '{self.at}'")
        if self.at == "position" and self.journal_name is None:
            raise ValueError("at = 'position' needs journal_name")
        if self.at == "timestamp" and self.timestamp is None:
            raise ValueError("at = 'timestamp' needs timestamp")
        return self


class FilterSettings(Settings):
    """Which real tables are relayed: Canal's comma lists of regular expressions over `db\\.table`."""

    filter_regex: str = ".*\\..*"
    filter_black_regex: str = ""
    operations: tuple[Literal["INSERT", "UPDATE", "DELETE", "DDL"], ...] = ("INSERT", "UPDATE", "DELETE", "DDL")


class RowRuleSettings(Settings):
    """What is published of rows of some real tables; several rules for one table hold together.

    `tables` is a comma list as in `filter_regex`. `fields` are the only columns published (all where it is empty), `without_fields` never
    are; keys always are. `where` is a condition in SQL's words (docs/filters.md).
    """

    tables: Annotated[str, Field(min_length=1)]
    operations: tuple[Literal["INSERT", "UPDATE", "DELETE"], ...] = ("INSERT", "UPDATE", "DELETE")
    fields: tuple[str, ...] = ()
    without_fields: tuple[str, ...] = ()
    where: str = ""


class MaskSettings(Settings):
    """How values of some columns are hidden; `columns` is a comma list as in `filter_regex`, over `database.table.column`.

    "hash" needs `salt`, "truncate" keeps `length` characters, "replace" puts `value` there, or NULL.
    """

    columns: Annotated[str, Field(min_length=1)]
    method: Literal["hash", "truncate", "replace"]
    salt: SecretStr | None = None
    length: Annotated[int, Field(ge=0, le=10_000)] = 0
    value: str | None = None

    @model_validator(mode="after")
    def _each_has_what_it_needs(self) -> "MaskSettings":
        for setting, method, given in (("salt", "hash", self.salt), ("value", "replace", self.value)):
            if given is not None and self.method != method:
                raise ValueError(f"{setting} belongs to method = {method!r}")
        if self.method == "hash" and self.salt is None:
            raise ValueError("method = 'hash' needs a salt")
        return self


class LookupSettings(Settings):
    """A question that transforms may ask the source's server while it is read: the first row of a SELECT with `%s` for its arguments.

    Answers are kept for `cache_seconds`, the last `cache_rows` of them.
    """

    name: Name
    query: Annotated[str, Field(pattern=r"(?is)^\s*select\b")]
    cache_seconds: Annotated[float, Field(ge=0)] = 60
    cache_rows: Annotated[int, Field(ge=1)] = 10_000


class TransformSettings(Settings):
    """A function for the rows of one logical table, found among the entry points `roma.transforms`.

    `adds` are columns of its own by name and type, `key` the columns that name a row behind it (none: as at the source).
    """

    table: Annotated[str, Field(min_length=1)]
    function: str
    lookups: tuple[Name, ...] = ()
    adds: dict[str, str] = {}
    key: tuple[str, ...] = ()
    most_changes: Annotated[int, Field(ge=1, le=1000)] = 8


class RoutingSettings(Settings):
    """What happens to names that no mapping document lists, and what real names become."""

    unmapped_db: Literal["drop", "default_topic", "stop"] = "drop"
    unmapped_table: Literal["same_name", "drop", "stop"] = "same_name"
    default_topic: Name | None = None
    names: Literal["logical", "real"] = "logical"
    key_scope: Literal["logical", "shard"] = "logical"

    @model_validator(mode="after")
    def _default_topic_is_named(self) -> "RoutingSettings":
        if self.unmapped_db == "default_topic" and self.default_topic is None:
            raise ValueError("unmapped_db = 'default_topic' needs default_topic")
        return self


class PartitionSettings(Settings):
    """Placement: the partitionHash rules, and how many partitions a topic is created with."""

    partition_hash: str = ".*\\..*:$pk$"
    database_hash: bool = True
    partitions_num: Annotated[int, Field(ge=1, le=100_000)] | None = None


class MessageSettings(Settings):
    """The message's form (docs/message-format.md)."""

    value_style: Literal["exact", "canal"] = "exact"
    rows_per_message: Literal["row", "event"] = "row"
    headers: Literal["default", "full"] = "default"
    field_tags: Literal["header", "separate"] = "header"
    tombstones: bool = False
    key_change: Literal["split", "canal"] = "split"
    row_image: Literal["full", "partial"] = "full"
    ddl: Literal["topic", "inline", "barrier", "drop"] = "topic"

    @field_validator("ddl", mode="before")
    @classmethod
    def _older_word(cls, value: object) -> object:
        return "drop" if value == "none" else value


class TopicSettings(Settings):
    """Topics are created by the relay. `retention` is "forever", "compact" or a number of hours as "72h"."""

    retention: Annotated[str, Field(pattern=r"^(forever|compact|[1-9][0-9]*h)$")] = "forever"


class TransactionSettings(Settings):
    """How source transactions become Kafka transactions.

    An idle stream commits at once; a busy one every `busy_commit_ms` or `busy_commit_bytes`, whichever comes first.
    A source transaction larger than `split_bytes`, or open for longer than a third of `timeout_ms`, is published in parts.
    """

    delivery: Literal["exactly_once", "at_least_once"] = "exactly_once"
    timeout_ms: Annotated[int, Field(ge=1000)] = 15_000
    busy_commit_ms: Annotated[int, Field(ge=1)] = 200
    busy_commit_bytes: Annotated[int, Field(ge=1)] = 64_000_000
    split_bytes: Annotated[int, Field(ge=1000)] = 64_000_000
    source_stall_seconds: Annotated[float, Field(gt=0)] = 2
    max_clock_skew_seconds: Annotated[float, Field(ge=0)] = 60


class BufferSettings(Settings):
    """The bounded buffer between decoding and publishing: `buffer_size` slots of `buffer_memunit_bytes` each, counted by mode."""

    buffer_size: Annotated[int, Field(ge=1)] = 16_384
    buffer_memunit_bytes: Annotated[int, Field(ge=1)] = 1024
    batch_mode: Literal["MEMSIZE", "ITEMSIZE"] = "MEMSIZE"


class FlowSettings(Settings):
    """How much an instance may read in a second, rows and bytes of row events; operators may ask otherwise while it runs."""

    rows_per_second: Annotated[int, Field(ge=1)] | None = None
    bytes_per_second: Annotated[int, Field(ge=1)] | None = None


class ClaimSettings(Settings):
    """Where `oversize = "claim_check"` puts values: a folder, or a URL that fsspec knows with its file system's options and secrets."""

    url: str | None = None
    options: dict[str, str | int | bool] = {}
    secrets: dict[str, SecretStr] = {}


class SpoolingSettings(Settings):
    """Where `spool = "mixed"` puts what Kafka cannot take: in a folder of its own below `directory`, `limit_bytes` at most.

    It begins when Kafka does not answer, or events have waited in memory, for `after_seconds`.
    """

    directory: Path | None = None
    limit_bytes: Annotated[int, Field(ge=16_000_000)] = 10_000_000_000
    after_seconds: Annotated[float, Field(gt=0)] = 5


class InstanceSettings(Settings):
    """One source relayed as one ordered stream, on the first of `preferred_servers` that can.

    `oversize` says what becomes of a row that no topic takes as it is; unless it is "stop", one that cannot be printed is a dead letter.
    `spool` says where events wait while Kafka cannot take them: in the source's binlog beyond the buffer, or on the relay's disk.
    """

    name: Name
    preferred_servers: tuple[Name, ...] = ()
    oversize: Literal["stop", "dead_letter", "claim_check"] = "stop"
    spool: Literal["memory", "mixed"] = "memory"
    source: SourceSettings
    failover: FailoverSettings = FailoverSettings()
    start: StartSettings = StartSettings()
    filter: FilterSettings = FilterSettings()
    rules: tuple[RowRuleSettings, ...] = ()
    masks: tuple[MaskSettings, ...] = ()
    transforms: tuple[TransformSettings, ...] = ()
    lookups: tuple[LookupSettings, ...] = ()
    routing: RoutingSettings = RoutingSettings()
    partition: PartitionSettings = PartitionSettings()
    message: MessageSettings = MessageSettings()
    topic: TopicSettings = TopicSettings()
    transaction: TransactionSettings = TransactionSettings()
    buffer: BufferSettings = BufferSettings()
    flow: FlowSettings = FlowSettings()
    claims: ClaimSettings = ClaimSettings()
    spooling: SpoolingSettings = SpoolingSettings()

    @model_validator(mode="after")
    def _spool_has_a_place(self) -> "InstanceSettings":
        if self.spool == "mixed" and self.spooling.directory is None:
            raise ValueError("spool = 'mixed' needs spooling.directory")
        return self

    @model_validator(mode="after")
    def _claims_have_a_place(self) -> "InstanceSettings":
        if self.oversize == "claim_check" and self.claims.url is None:
            raise ValueError("oversize = 'claim_check' needs claims.url")
        return self

    @model_validator(mode="after")
    def _partial_rows_are_not_compacted(self) -> "InstanceSettings":
        if self.message.row_image == "partial" and self.topic.retention == "compact":
            raise ValueError(
                "topic.retention = 'compact' keeps the last row of a key, and with message.row_image = 'partial' that lacks columns"
            )
        return self

    @model_validator(mode="after")
    def _packed_messages_have_no_keys(self) -> "InstanceSettings":
        needs_keys = {
            "message.tombstones = true": self.message.tombstones,
            "routing.key_scope = 'shard'": self.routing.key_scope == "shard",
            "topic.retention = 'compact'": self.topic.retention == "compact",
        }
        for setting, wanted in needs_keys.items():
            if wanted and self.message.rows_per_message == "event":
                raise ValueError(f"{setting} needs message keys, and message.rows_per_message = 'event' has none")
        return self


class StatusSettings(Settings):
    """Where the relay process answers /healthz, /readyz, /metrics and /status. Port 0 takes a free one; None: no server."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] | None = 8081


class ApiSettings(Settings):
    """Where the admin listens. Writes need `Authorization: Bearer <token>`; without a token every write is refused."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    token: SecretStr | None = None


class LogSettings(Settings):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["console", "json"] = "console"


class RelaySettings(Settings):
    """The whole file. `installation` tells relays of one Kafka and ZooKeeper apart from another installation's."""

    installation: Name = "roma"
    kafka: KafkaSettings
    zookeeper: ZooKeeperSettings
    placement: PlacementSettings = PlacementSettings()
    instances: tuple[InstanceSettings, ...] = ()
    status: StatusSettings = StatusSettings()
    api: ApiSettings = ApiSettings()
    log: LogSettings = LogSettings()

    @model_validator(mode="after")
    def _names_are_unique(self) -> "RelaySettings":
        names = [instance.name for instance in self.instances]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two instances are called {name!r}")
        return self


def load_settings(path: Path) -> RelaySettings:
    """Read and check the file; `${NAME}` in a string is taken from the environment. Raises ConfigurationError naming the place."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise ConfigurationError(f"{path} cannot be read: {exc.strerror}.") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise ConfigurationError(f"{path} is not TOML: {exc}.") from exc
    return _checked(RelaySettings, document, str(path), "file")


def instance_settings(document: object, place: str, *, resolved: bool = True) -> InstanceSettings:
    """Check the settings of one instance, as for `load_settings`; not `resolved`: `${NAME}` stays, for whoever only checks."""
    return _checked(InstanceSettings, document, place, "document", resolved=resolved)


def _checked(model: type[Checked], document: object, place: str, whole: str, *, resolved: bool = True) -> Checked:
    try:
        return model.model_validate(_with_environment(document, place) if resolved else document)
    except ValidationError as exc:
        places = "; ".join(f"{'.'.join(map(str, e['loc'])) or whole}: {e['msg']}" for e in exc.errors(include_input=False))
        raise ConfigurationError(f"{place}: {places}.") from exc


def _with_environment(value: object, place: str) -> object:
    """Replace `${NAME}` strings, so that no secret need stand in the file."""
    if isinstance(value, dict):
        return {key: _with_environment(item, place) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_environment(item, place) for item in value]
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        name = value[2:-1]
        if name not in os.environ:
            raise ConfigurationError(f"{place} names the environment variable {name}, which is not set.")
        return os.environ[name]
    return value

"""Messages, topics, transactions, and the storage of rows that wait."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from relay.settings.base import Settings
from relay.settings.formats import FormatName, refusals
from relay.settings.secrets import ClaimOptions, Secret


class MessageSettings(Settings):
    """The format and the contents of messages (docs/message-format.md)."""

    format: FormatName = "canal-json"
    """Format of values (docs/formats/index.md). `topic.rules` may name another for some topics."""
    schemas: bool = False
    """Put Kafka Connect's schema into each message of `debezium-json`."""
    value_style: Literal["exact", "canal"] = "exact"
    """Texts of values: as the server prints them, or byte for byte as Canal prints them."""
    rows_per_message: Literal["row", "event"] = "row"
    """One message for each row, or for each row event."""
    headers: Literal["default", "full"] = "default"
    """`full` adds the headers instance, real, source, gtid and mapping, and those of statements."""
    field_tags: Literal["header", "separate"] = "header"
    """Tags of changed fields: further `tag` headers of the message, or messages of their own."""
    tombstones: bool = False
    """Send a record without a value after each DELETE."""
    key_change: Literal["split", "canal"] = "split"
    """An UPDATE of the key: a DELETE and an INSERT, or one UPDATE as Canal sends it."""
    key_values: Literal["lossless", "printed"] = "lossless"
    """`lossless`: different values have different keys. `printed`: the texts that `data` has."""
    system_versions: Literal["marked", "rows"] = "marked"
    """History rows of MariaDB's system-versioned tables have the header `history`, or are rows as
    others, with `row_end` in keys.
    """
    row_image: Literal["full", "partial"] = "full"
    """`partial` accepts rows that lack columns (MINIMAL, NOBLOB)."""
    ddl: Literal["topic", "inline", "barrier", "drop"] = "topic"
    """Where statements go: a separate topic, the row topic, every partition of the row topic
    (`barrier`), or nowhere.
    """

    @property
    def marks_history(self) -> bool:
        """Whether messages mark history rows of system-versioned tables.

        Canal's form has no field for it.
        """
        return self.value_style == "exact" and self.system_versions == "marked"

    @model_validator(mode="after")
    def _format_fits(self) -> "MessageSettings":
        found = refusals("message.format", self.format, dict(self))
        if found:
            raise ValueError("; ".join(found))
        return self

    @field_validator("ddl", mode="before")
    @classmethod
    def _older_word(cls, value: object) -> object:
        return "drop" if value == "none" else value


def compaction_refusal(message: MessageSettings) -> str | None:
    """Return why the last message of a key is not its row, so that its topic must not be compacted.

    None if it is.
    """
    reasons = {
        "row_image": ("partial", "lacks columns"),
        "key_change": ("canal", "stays for a key that an UPDATE changed, because no DELETE has it"),
        "field_tags": ("separate", "has only the last of its tags"),
    }
    for name, (refused, reason) in reasons.items():
        if getattr(message, name) == refused:
            return (
                "topic.retention = 'compact' keeps the last message of a key, and with "
                f"message.{name} = '{refused}' that message {reason}"
            )
    return None


Retention: TypeAlias = Annotated[str, Field(pattern=r"^(forever|compact|[1-9][0-9]*h)$")]
"""How long a topic keeps rows: `forever`, `compact`, or hours such as `72h`."""


class TopicRuleSettings(Settings):
    """Settings for some topics that replace those of the instance."""

    topics: Annotated[str, Field(pattern=r"^[A-Za-z0-9._*-]{1,249}$")]
    """A topic's name; `*` matches any characters."""
    partitions_num: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Number of partitions. Not set: `partition.partitions_num`."""
    retention: Retention | None = None
    """How long they keep rows. Not set: `topic.retention`."""
    format: FormatName | None = None
    """Format of values, also of their statements. Not set: `message.format`."""


class TopicSettings(Settings):
    """The settings by which the relay creates topics."""

    retention: Retention = "forever"
    """How long a topic keeps rows: `forever`, `compact`, or hours such as `72h`."""
    move_markers: bool = True
    """Mark the end of a table in its former topic when a mapping edit gives it another one."""
    rules: tuple[TopicRuleSettings, ...] = ()
    """Other retention, partitions and format for some topics. The first rule that matches holds."""

    def rule_of(self, topic: str) -> TopicRuleSettings | None:
        """Return the first rule that matches a topic, None if none does."""
        return next((each for each in self.rules if fnmatchcase(topic, each.topics)), None)

    def retention_of(self, topic: str) -> str:
        """Return how long a topic keeps rows, in the words of `retention`."""
        rule = self.rule_of(topic)
        return self.retention if rule is None or rule.retention is None else rule.retention

    @property
    def compacts(self) -> bool:
        """Whether some topic may be compacted."""
        return "compact" in (self.retention, *(each.retention for each in self.rules))


ReportTopic: TypeAlias = Annotated[str, Field(pattern=r"^([A-Za-z0-9._-]|\{instance\}){1,200}$")]
"""The topic of an instance's BEGIN, END or heartbeat messages; `{instance}` is its name."""


class TransactionSettings(Settings):
    """How source transactions become Kafka transactions."""

    topic: ReportTopic | None = None
    """Topic of BEGIN and END messages; `{instance}` is the name of the instance.

    Not set: none, and rows have no `transaction` header.
    """
    delivery: Literal["exactly_once", "at_least_once"] = "exactly_once"
    """`at_least_once` uses no Kafka transactions: no fence, and repeated rows after a crash."""
    producers: Literal[1, 2] = 1
    """With 2, the next batch is sent under a second transactional id while Kafka commits the last.

    Rows arrive earlier, for more work of relay and brokers. Relays older than this setting do not
    start where it was 2. Without effect with `at_least_once`.
    """
    timeout_ms: Annotated[int, Field(ge=1000)] = 15_000
    """Timeout of a Kafka transaction. At most `transaction.max.timeout.ms` of the brokers."""
    busy_commit_ms: Annotated[int, Field(ge=1)] = 200
    """A busy stream commits after this time. An idle one commits at once."""
    busy_commit_bytes: Annotated[int, Field(ge=1)] = 64_000_000
    """A busy stream commits after this many bytes, if that comes first."""
    split_bytes: Annotated[int, Field(ge=1000)] = 64_000_000
    """A larger source transaction is published in parts.

    So is one that is open for a third of `timeout_ms`.
    """
    source_stall_seconds: Annotated[float, Field(gt=0)] = 2
    """A source that sends only heartbeats inside a transaction for this long has stalled.

    It is read again.
    """
    max_clock_skew_seconds: Annotated[float, Field(ge=0)] = 60
    """How far ahead of the relay's clock a change time may be."""

    @property
    def overlaps(self) -> bool:
        """Whether the next batch is sent while Kafka commits the last one."""
        return self.delivery == "exactly_once" and self.producers == 2


class HeartbeatSettings(Settings):
    """Messages that an instance without changes publishes."""

    topic: ReportTopic | None = None
    """Topic of heartbeats; `{instance}` is the name of the instance. Not set: none."""
    interval_seconds: Annotated[float, Field(ge=1)] = 60
    """An instance that published nothing for this long publishes a heartbeat."""


class BufferSettings(Settings):
    """The bounded buffer between decoding and publishing."""

    buffer_size: Annotated[int, Field(ge=1)] = 16_384
    """Slots of the buffer."""
    buffer_memunit_bytes: Annotated[int, Field(ge=1)] = 1024
    """Size of a slot."""
    batch_mode: Literal["MEMSIZE", "ITEMSIZE"] = "MEMSIZE"
    """Count bytes (`MEMSIZE`) or slots (`ITEMSIZE`)."""


class FlowSettings(Settings):
    """How much an instance may read in a second. Operators may set other limits at run time."""

    rows_per_second: Annotated[int, Field(ge=1)] | None = None
    """Row changes a second. Not set: no limit."""
    bytes_per_second: Annotated[int, Field(ge=1)] | None = None
    """Bytes of row events a second. Not set: no limit."""


class ClaimSettings(Settings):
    """Where `oversize = "claim_check"` stores values."""

    url: str | None = None
    """A folder, or a URL that fsspec supports."""
    options: ClaimOptions = Field(default_factory=dict)
    """Options of its file system."""
    secrets: dict[str, Secret] = Field(default_factory=dict)
    """Secret options of its file system."""


class SpoolingSettings(Settings):
    """Where `spool = "mixed"` stores rows that Kafka cannot take."""

    directory: Path | None = None
    """Folder; the relay creates a separate one below it."""
    limit_bytes: Annotated[int, Field(ge=16_000_000)] = 10_000_000_000
    """Largest size of the spool."""
    after_seconds: Annotated[float, Field(gt=0)] = 5
    """Spooling begins when Kafka does not answer, or events wait in memory, for this long."""

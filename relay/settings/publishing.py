"""Messages, topics, transactions, and the storage of rows until Kafka accepts them."""

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
    """Include Kafka Connect's schema in each message of `debezium-json`."""
    value_style: Literal["exact", "canal"] = "exact"
    """Form of values: text as the server prints it, or the exact bytes that Canal prints."""
    rows_per_message: Literal["row", "event"] = "row"
    """One message for each row, or for each row event."""
    headers: Literal["default", "full"] = "default"
    """`full` adds the headers instance, real, source, gtid and mapping, and those of statements."""
    field_tags: Literal["header", "separate"] = "header"
    """Where tags of changed fields are written: as `tag` headers of the row's message, or as
    separate messages.
    """
    tombstones: bool = False
    """Send a record without a value after each DELETE."""
    key_change: Literal["split", "canal"] = "split"
    """Form of an UPDATE that changes the key: a DELETE and an INSERT, or one UPDATE as Canal sends
    it.
    """
    key_values: Literal["lossless", "printed"] = "lossless"
    """`lossless`: different values give different keys. `printed`: keys contain the same texts as
    `data`.
    """
    system_versions: Literal["marked", "rows"] = "marked"
    """History rows of MariaDB's system-versioned tables: mark them with the header `history`, or
    publish them like all other rows, with `row_end` in keys.
    """
    row_image: Literal["full", "partial"] = "full"
    """`partial` accepts rows that lack columns (MINIMAL, NOBLOB)."""
    ddl: Literal["topic", "inline", "barrier", "drop"] = "topic"
    """Where statements go: a separate topic, the row topic, every partition of the row topic
    (`barrier`), or nowhere.
    """

    @property
    def marks_history(self) -> bool:
        """Whether messages mark history rows of system-versioned tables. False with `value_style =
        "canal"`, because Canal's form has no field for the mark.
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
    """Return why log compaction would lose rows under these message settings, None if it would not.

    Compaction keeps the last message of each key. With some settings that message does not have the
    key's row.
    """
    reasons = {
        "row_image": ("partial", "sends rows that lack columns"),
        "key_change": ("canal", "sends no DELETE for a key that an UPDATE changed"),
        "field_tags": ("separate", "sends a message for each tag, so only one tag would stay"),
    }
    for name, (refused, reason) in reasons.items():
        if getattr(message, name) == refused:
            return (
                "topic.retention = 'compact' keeps only the last message of a key, and "
                f"message.{name} = '{refused}' {reason}; remove one of the two settings"
            )
    return None


Retention: TypeAlias = Annotated[str, Field(pattern=r"^(forever|compact|[1-9][0-9]*h)$")]
"""How long a topic keeps rows: `forever`, `compact`, or hours such as `72h`."""


class TopicRuleSettings(Settings):
    """Settings that replace those of the instance for the matching topics."""

    topics: Annotated[str, Field(pattern=r"^[A-Za-z0-9._*-]{1,249}$")]
    """A topic's name; `*` matches any characters."""
    partitions_num: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Number of partitions. Not set: `partition.partitions_num`."""
    retention: Retention | None = None
    """How long the topics keep rows. Not set: `topic.retention`."""
    format: FormatName | None = None
    """Format of values, also in the topic of statements. Not set: `message.format`."""


class TopicSettings(Settings):
    """The settings by which the relay creates topics."""

    retention: Retention = "forever"
    """How long a topic keeps rows: `forever`, `compact`, or hours such as `72h`."""
    move_markers: bool = True
    """When a mapping edit gives a table another topic, write a message to the former topic that
    marks the table's end there.
    """
    rules: tuple[TopicRuleSettings, ...] = ()
    """Retention, partitions and format of selected topics. The first matching rule applies."""

    def rule_of(self, topic: str) -> TopicRuleSettings | None:
        """Return the first rule that matches a topic, None if none does."""
        return next((each for each in self.rules if fnmatchcase(topic, each.topics)), None)

    def retention_of(self, topic: str) -> str:
        """Return the retention of a topic, in the form of `retention`."""
        rule = self.rule_of(topic)
        return self.retention if rule is None or rule.retention is None else rule.retention

    @property
    def compacts(self) -> bool:
        """Return whether any topic may be compacted."""
        return "compact" in (self.retention, *(each.retention for each in self.rules))


ReportTopic: TypeAlias = Annotated[str, Field(pattern=r"^([A-Za-z0-9._-]|\{instance\}){1,200}$")]
"""A topic of BEGIN, END or heartbeat messages. `{instance}` is replaced by the name of the
instance.
"""


class TransactionSettings(Settings):
    """How source transactions become Kafka transactions."""

    topic: ReportTopic | None = None
    """Topic of BEGIN and END messages; `{instance}` is the name of the instance.

    Not set: none, and rows have no `transaction` header.
    """
    delivery: Literal["exactly_once", "at_least_once"] = "exactly_once"
    """`at_least_once` uses no Kafka transactions. Kafka then cannot fence the producer of a former
    leader, and rows are repeated after a crash.
    """
    producers: Literal[1, 2] = 1
    """With 2, the relay sends the next batch under a second transactional id while Kafka commits
    the last one.

    Rows arrive earlier, but relay and brokers work more. Relay versions without this setting refuse
    to start after it was 2. No effect with `at_least_once`.
    """
    timeout_ms: Annotated[int, Field(ge=1000)] = 15_000
    """Timeout of a Kafka transaction. At most `transaction.max.timeout.ms` of the brokers."""
    busy_commit_ms: Annotated[int, Field(ge=1)] = 200
    """Longest time between commits of a busy stream. An idle stream commits immediately."""
    busy_commit_bytes: Annotated[int, Field(ge=1)] = 64_000_000
    """A busy stream commits after this many bytes, if this limit is reached before the time."""
    split_bytes: Annotated[int, Field(ge=1000)] = 64_000_000
    """A source transaction that is larger than this many bytes is published in parts.

    So is a transaction that was open for a third of `timeout_ms`.
    """
    source_stall_seconds: Annotated[float, Field(gt=0)] = 2
    """If a source sends nothing but heartbeats inside a transaction for this time, it has stalled.

    The relay then reconnects and reads the transaction again.
    """
    max_clock_skew_seconds: Annotated[float, Field(ge=0)] = 60
    """How far the time of a change may be ahead of the relay's clock. A later time is replaced by
    this limit in order keys.
    """

    @property
    def overlaps(self) -> bool:
        """Whether the next batch is sent while Kafka commits the previous one."""
        return self.delivery == "exactly_once" and self.producers == 2


class HeartbeatSettings(Settings):
    """Heartbeat messages that an instance publishes while it has no changes."""

    topic: ReportTopic | None = None
    """Topic of heartbeats; `{instance}` is the name of the instance. Not set: none."""
    interval_seconds: Annotated[float, Field(ge=1)] = 60
    """The instance publishes a heartbeat after this time without another message."""


class BufferSettings(Settings):
    """The bounded buffer between decoding and publishing."""

    buffer_size: Annotated[int, Field(ge=1)] = 16_384
    """Number of slots of the buffer."""
    buffer_memunit_bytes: Annotated[int, Field(ge=1)] = 1024
    """Bytes of a slot."""
    batch_mode: Literal["MEMSIZE", "ITEMSIZE"] = "MEMSIZE"
    """What limits the buffer.

    `MEMSIZE`: `buffer_size` times `buffer_memunit_bytes` bytes. `ITEMSIZE`: `buffer_size` items.
    """


class FlowSettings(Settings):
    """How much an instance may read in a second. Operators may set other limits at run time."""

    rows_per_second: Annotated[int, Field(ge=1)] | None = None
    """Row changes a second. Not set: no limit."""
    bytes_per_second: Annotated[int, Field(ge=1)] | None = None
    """Bytes of row events a second. Not set: no limit."""


class ClaimSettings(Settings):
    """Where `oversize = "claim_check"` stores values that are too large for Kafka."""

    url: str | None = None
    """Where values are stored: a folder, or a URL that fsspec supports."""
    options: ClaimOptions = Field(default_factory=dict)
    """Options of fsspec's file system for `url`."""
    secrets: dict[str, Secret] = Field(default_factory=dict)
    """Options of fsspec's file system whose values are secret."""


class SpoolingSettings(Settings):
    """Where `spool = "mixed"` stores binlog events that Kafka does not accept yet, and when."""

    directory: Path | None = None
    """Folder of spools. The relay creates a subfolder for each instance."""
    limit_bytes: Annotated[int, Field(ge=16_000_000)] = 10_000_000_000
    """Largest size of the spool."""
    after_seconds: Annotated[float, Field(gt=0)] = 5
    """Spooling begins when Kafka has not answered for this time, or when events have been in memory
    for this time.
    """

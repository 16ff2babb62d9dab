"""Messages, topics, transactions, and what holds rows meanwhile."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from relay.settings.base import Settings
from relay.settings.secrets import ClaimOptions, Secret


class MessageSettings(Settings):
    """The message's form (docs/message-format.md)."""

    value_style: Literal["exact", "canal"] = "exact"
    """Texts of values: as the server prints them, or byte for byte as Canal prints them."""
    rows_per_message: Literal["row", "event"] = "row"
    """One message for each row, or for each row event."""
    headers: Literal["default", "full"] = "default"
    """`full` adds the headers real, source, gtid and mapping."""
    field_tags: Literal["header", "separate"] = "header"
    """Tags of changed fields: further `tag` headers of the message, or messages of their own."""
    tombstones: bool = False
    """Send a record without a value after each DELETE."""
    key_change: Literal["split", "canal"] = "split"
    """An UPDATE of the key: a DELETE and an INSERT, or one UPDATE as Canal sends it."""
    key_values: Literal["lossless", "printed"] = "lossless"
    """Keys that differ for all values that differ, or the texts that `data` has."""
    system_versions: Literal["marked", "rows"] = "marked"
    """History rows of MariaDB's system-versioned tables have the header `history`, or are rows as
    others, with `row_end` in keys.
    """
    row_image: Literal["full", "partial"] = "full"
    """`partial` accepts rows that lack columns (MINIMAL, NOBLOB)."""
    ddl: Literal["topic", "inline", "barrier", "drop"] = "topic"
    """Where statements go: a topic of their own, the row topic, every partition of the row topic
    (`barrier`), or nowhere.
    """

    @property
    def marks_history(self) -> bool:
        """Whether history rows of system-versioned tables are told from current ones.

        Canal's form has no place for it.
        """
        return self.value_style == "exact" and self.system_versions == "marked"

    @field_validator("ddl", mode="before")
    @classmethod
    def _older_word(cls, value: object) -> object:
        return "drop" if value == "none" else value


class TopicSettings(Settings):
    """How the relay makes topics."""

    retention: Annotated[str, Field(pattern=r"^(forever|compact|[1-9][0-9]*h)$")] = "forever"
    """How long a topic keeps rows: `forever`, `compact`, or hours such as `72h`."""


class TransactionSettings(Settings):
    """How source transactions become Kafka transactions."""

    delivery: Literal["exactly_once", "at_least_once"] = "exactly_once"
    """`at_least_once` uses no Kafka transactions: no fence, and repeated rows after a crash."""
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
    """A folder, or a URL that fsspec knows."""
    options: ClaimOptions = Field(default_factory=dict)
    """Options of its file system."""
    secrets: dict[str, Secret] = Field(default_factory=dict)
    """Secret options of its file system."""


class SpoolingSettings(Settings):
    """Where `spool = "mixed"` stores what Kafka cannot take."""

    directory: Path | None = None
    """Folder; the relay makes one of its own below it."""
    limit_bytes: Annotated[int, Field(ge=16_000_000)] = 10_000_000_000
    """Largest size of the spool."""
    after_seconds: Annotated[float, Field(gt=0)] = 5
    """Spooling begins when Kafka does not answer, or events wait in memory, for this long."""

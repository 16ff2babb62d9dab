"""Messages, topics, transactions, and what holds rows meanwhile."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator

from relay.settings.base import Settings


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
    options: dict[str, str | int | bool] = Field(default_factory=dict)
    secrets: dict[str, SecretStr] = Field(default_factory=dict)


class SpoolingSettings(Settings):
    """Where `spool = "mixed"` puts what Kafka cannot take: in a folder of its own below `directory`, `limit_bytes` at most.

    It begins when Kafka does not answer, or events have waited in memory, for `after_seconds`.
    """

    directory: Path | None = None
    limit_bytes: Annotated[int, Field(ge=16_000_000)] = 10_000_000_000
    after_seconds: Annotated[float, Field(gt=0)] = 5

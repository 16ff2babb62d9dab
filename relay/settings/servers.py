"""Kafka, ZooKeeper, and where relays share the work."""

from typing import Annotated, Literal

from pydantic import Field

from relay.settings.base import Name, Settings
from relay.settings.secrets import KafkaOptions, Secret


class KafkaSettings(Settings):
    """How to reach Kafka, and how the client collects messages."""

    bootstrap_servers: str
    """Brokers as `host:port`, separated by commas."""
    client: KafkaOptions = Field(default_factory=dict)
    """Further settings of librdkafka, passed as they are (`security.protocol`, `sasl.*`,
    `ssl.*`).
    """
    password: Secret | None = None
    """Password of the SASL login; becomes `sasl.password`."""
    compression: Literal["none", "lz4", "snappy", "zstd", "gzip"] = "lz4"
    """Compression of batches."""
    batch_bytes: Annotated[int, Field(ge=1)] = 1_000_000
    """Largest size of a batch, before compression."""
    linger_ms: Annotated[float, Field(ge=0)] = 5
    """How long the client waits for more messages of a batch."""
    queue_bytes: Annotated[int, Field(ge=1)] = 4_000_000
    """How much the client holds before the relay waits.

    Never less than two of the largest messages. With more than 31 partitions it holds 128 KB for
    each, up to 32 MB. Many brokers or long round trips need `batch_bytes` for each broker, and
    more.
    """
    message_max_bytes: Annotated[int, Field(ge=1000)] = 1_000_000
    """Largest message. Raise it together with `max.message.bytes` of the topics."""
    replication_factor: Annotated[int, Field(ge=1)] = 3
    """Replicas of the topics that the relay makes."""
    min_insync_replicas: Annotated[int, Field(ge=1)] = 2
    """`min.insync.replicas` of the topics that the relay makes."""


class PlacementSettings(Settings):
    """Which relay runs what."""

    server: Name | None = None
    """This machine's name in preferences, moves and maintenance. Not set: its host name."""
    rebalance_seconds: Annotated[float, Field(ge=0)] = 10
    """An instance moves for preference or balance when that has been right for this long."""

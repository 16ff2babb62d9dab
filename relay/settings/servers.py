"""Kafka, ZooKeeper, and where relays share the work."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from relay.settings.base import Name, Settings


class KafkaSettings(Settings):
    """How to reach Kafka. `client` holds further librdkafka settings (security.protocol, sasl.*, ssl.*) as they are.

    `queue_bytes` is how much the client holds before it makes the relay wait (never less than two of the largest messages). What is
    little stays in the processor's caches; many brokers or long round trips want a `batch_bytes` for each broker, and more. Where rows go
    to many partitions, 128 KB for each are held, up to 32 MB in all: a request carries the messages of one partition.
    """

    bootstrap_servers: str
    client: dict[str, str | int | bool] = Field(default_factory=dict)
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

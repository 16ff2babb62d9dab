"""Kafka, the distribution of instances over relays, and the server for Canal clients."""

from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from relay.settings.base import Name, Settings
from relay.settings.secrets import KafkaOptions, Secret


class KafkaSettings(Settings):
    """Connection to Kafka, and how the client batches messages."""

    bootstrap_servers: str
    """Brokers as `host:port`, separated by commas."""
    client: KafkaOptions = Field(default_factory=dict)
    """Further settings of librdkafka, passed unchanged (`security.protocol`, `sasl.*`, `ssl.*`)."""
    password: Secret | None = None
    """Password of the SASL login. It sets `sasl.password`."""
    compression: Literal["none", "lz4", "snappy", "zstd", "gzip"] = "lz4"
    """Compression of batches."""
    batch_bytes: Annotated[int, Field(ge=1)] = 1_000_000
    """Largest size of a batch, before compression."""
    linger_ms: Annotated[float, Field(ge=0)] = 5
    """How long the client waits for further messages before it sends a batch."""
    queue_bytes: Annotated[int, Field(ge=1)] = 4_000_000
    """The relay pauses when the client has queued this many bytes.

    Set at least twice the size of the largest message. With more than 31 partitions the client
    queues 128 KB for each, up to 32 MB. With many brokers or long round trips, set at least
    `batch_bytes` for each broker.
    """
    message_max_bytes: Annotated[int, Field(ge=1000)] = 1_000_000
    """Largest message. If you raise it, raise `max.message.bytes` of the topics too."""
    replication_factor: Annotated[int, Field(ge=1)] = 3
    """Replication factor of topics that the relay creates."""
    min_insync_replicas: Annotated[int, Field(ge=1)] = 2
    """`min.insync.replicas` of topics that the relay creates."""


MOST_PROCESSES: Final = 64
"""Largest number of worker processes of a relay."""


class PlacementSettings(Settings):
    """How instances are distributed over relays."""

    server: Name | None = None
    """This machine's name in `preferred_servers`, hand-overs and maintenance. Not set: its host
    name.
    """
    rebalance_seconds: Annotated[float, Field(ge=0)] = 10
    """How long the plan must be unchanged before an instance moves for preference or balance."""
    processes: Annotated[int, Field(ge=1, le=MOST_PROCESSES)] | Literal["auto"] = 1
    """Worker processes of the relay. They share its instances like several relays on one server.

    1: the relay is one process. `auto`: one worker for each core that the relay may use.
    """


class CanalDestinationSettings(Settings):
    """One destination: the name that clients subscribe to, and its logical tables."""

    name: Name
    """Name of the destination, part of the consumer groups. Never change it: positions would be
    lost.
    """
    filter: str = ".*\\..*"
    """Logical tables as Canal's expressions over `database.table`, separated by commas. A client's
    filter selects from these.
    """


class CanalServerSettings(Settings):
    """The server for clients of Canal. Not set: `roma canal-server` does not start."""

    host: str = "127.0.0.1"
    """Address that the server listens at. Beyond loopback it requires `password`."""
    port: Annotated[int, Field(ge=0, le=65535)] = 11111
    """Port of the server. 0: a free one."""
    user: str = ""
    """User name of the clients. Empty: any."""
    password: Secret | None = None
    """Password of the clients. Not set: clients need none."""
    admin: str = "http://127.0.0.1:8080"
    """URL of the admin, from which the server reads the topics of the logical tables."""
    token: Secret | None = None
    """Token with the role viewer. Not set: `api.token`."""
    cache: Path | None = None
    """Folder that caches the admin's last answers. Not set: the cache folder of the server's user.
    """
    destinations: Annotated[tuple[CanalDestinationSettings, ...], Field(min_length=1)]
    """The destinations."""
    start: Literal["earliest", "latest"] = "earliest"
    """Where a client id without a position begins: at the oldest changes of the topics, or at their
    ends as Canal does.
    """
    transaction_entries: bool = True
    """Deliver entries TRANSACTIONBEGIN and TRANSACTIONEND around the rows."""
    deletes_without_columns: Literal["refuse", "skip"] = "refuse"
    """A delete whose message has only the key, because compaction removed the row: refuse it with
    `DELETE_WITHOUT_COLUMNS`, or log it and deliver nothing.
    """
    max_connections: Annotated[int, Field(ge=1, le=10_000)] = 100
    """Largest number of connections that have logged in. Each connection uses a thread, and after
    its subscription also a Kafka consumer.
    """
    max_logins: Annotated[int, Field(ge=1, le=10_000)] = 100
    """Largest number of connections that have not logged in. Beyond it, the server closes the
    oldest one of the client address with the most connections.
    """
    batch_rows: Annotated[int, Field(ge=1)] = 10_000
    """Largest number of rows in a batch, also if a client asks for more."""
    batch_bytes: Annotated[int, Field(ge=1000)] = 16_000_000
    """A batch is complete when its messages in Kafka have this size."""
    rows_out: Annotated[int, Field(ge=1)] = 100_000
    """Largest number of unacknowledged rows of a client id. Further requests get empty batches."""
    login_seconds: Annotated[float, Field(gt=0)] = 10.0
    """A client must authenticate within this time."""
    idle_seconds: Annotated[float, Field(gt=0)] = 3600.0
    """The server closes a connection that sends no request for this time. A client may set a
    shorter time.
    """
    send_seconds: Annotated[float, Field(gt=0)] = 60.0
    """A client must receive an answer within this time."""
    session_timeout_seconds: Annotated[float, Field(ge=6, le=1800)] = 10.0
    """If a server has not answered for this time, another server continues for its client ids."""
    refresh_seconds: Annotated[float, Field(gt=0)] = 15.0
    """Interval between queries to the admin for moved and new tables."""
    status_host: str = "127.0.0.1"
    """Address of `/healthz`, `/readyz` and `/metrics` of the server."""
    status_port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Port of `/healthz`, `/readyz` and `/metrics`. 0: a free one. Not set: none."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [each.name for each in self.destinations]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two destinations are called {name!r}")
        return self

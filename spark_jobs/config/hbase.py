"""Settings of HBase: its address, and how copies are stored in it."""

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from relay.settings import Settings

MAX_SALT_BUCKETS: Final = 256
"""Largest number of salt buckets, because the salt is one byte."""
HBASE_CLIENT: Final = "org.apache.hbase:hbase-shaded-mapreduce:2.6.4-hadoop3"
"""The Java client that client = "jvm" was tested with, and the library that writes HBase's
files.
"""
Address = Annotated[str, Field(pattern=r"^(\[[0-9A-Fa-f:]+\]|[^:\[\]\s]+):\d{1,5}$")]


class FilesSettings(Settings):
    """Large batches are written as files that HBase loads whole."""

    staging: Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]*:/.*[^/]")]
    """Folder on the filesystem of `hbase.rootdir`, as a URI, writable by the executors and HBase's
    user.
    """
    from_rows: Annotated[int, Field(ge=1)] = 50_000
    """Smallest number of rows of one table that is written as files; fewer are sent as puts.

    The number is counted in a batch that has only the newest change of each key.
    """


class HBaseSettings(Settings):
    """Where HBase is, and how copies are stored in it."""

    thrift: Annotated[tuple[Address, ...], Field(min_length=1)]
    """Thrift2 gateways as `host:port`.

    Tasks are distributed over the gateways. If a gateway does not answer, its tasks use the next.
    """
    client: Literal["thrift2", "jvm"] = "thrift2"
    """Which client writes rows: the gateways, or HBase's Java client."""
    quorum: tuple[Address, ...] = ()
    """HBase's ZooKeeper servers, for `client = "jvm"`."""
    client_options: dict[str, str] = Field(default_factory=dict)
    """Further settings of HBase's Java client, such as `zookeeper.znode.parent`."""
    files: FilesSettings | None = None
    """Write large batches as files (`client = "jvm"`, `guard = "version"`)."""
    transport: Literal["buffered", "framed"] = "buffered"
    """`framed` for gateways that were started with `-f` or as `-nonblocking`, `-hsha`,
    `-threadedselector`.
    """
    namespace: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")] = "roma"
    """HBase namespace of the copies, made if missing."""
    guard: Literal["version", "check_and_mutate"] = "version"
    """`version`: HBase shows the change with the greatest execute position.

    `check_and_mutate`: the job compares whole order keys, row by row.
    """
    several_instances: Literal["stop", "allow"] = "stop"
    """What the job does if several instances publish a table, with `guard = "version"`.

    `stop`: it writes no row of the batch and raises `InstancesMixed`. `allow` declares that no row
    moves between the instances (`key_scope = "shard"`, or keys of one shard).
    """
    salt_buckets: Annotated[int, Field(ge=0, le=MAX_SALT_BUCKETS)] = 0
    """2 to 256: a first byte of the row key distributes neighbours over this many regions. 0: none.

    Never change it for existing copies.
    """
    writers: Annotated[int, Field(ge=1)] = 4
    """Smallest number of tasks into which the writing of a batch is divided."""
    rows_per_call: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """Rows of one request."""
    patience_seconds: Annotated[float, Field(ge=1)] = 120
    """Seconds that HBase may be unavailable before the job ends."""

    @property
    def refuses_several_instances(self) -> bool:
        """Whether a table must have only one instance, because execute positions alone decide which
        change is newer, and they rise only within one instance.
        """
        return self.guard == "version" and self.several_instances == "stop"

    @model_validator(mode="after")
    def _the_jvm_finds_hbase(self) -> "HBaseSettings":
        if (self.client == "jvm") != bool(self.quorum):
            raise ValueError(
                "client = 'jvm' needs quorum, and quorum needs client = 'jvm': it names the "
                "ZooKeeper servers of HBase as host:port"
            )
        if self.files is not None and (self.client, self.guard) != ("jvm", "version"):
            raise ValueError(
                "files needs client = 'jvm' and guard = 'version', because nothing compares "
                "the rows of a file"
            )
        if self.client_options and self.client != "jvm":
            raise ValueError(
                "client_options needs client = 'jvm': these are options of HBase's Java client"
            )
        return self

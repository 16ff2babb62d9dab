"""Where HBase is and how the copies lie in it."""

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from relay.settings import Settings
from spark_jobs.hbase.row_key import MAX_SALT_BUCKETS

HBASE_CLIENT: Final = "org.apache.hbase:hbase-shaded-mapreduce:2.6.4-hadoop3"
"""The Java client that client = "jvm" is tried with, with what writes HBase's files."""
Address = Annotated[str, Field(pattern=r"^(\[[0-9A-Fa-f:]+\]|[^:\[\]\s]+):\d{1,5}$")]


class FilesSettings(Settings):
    """Large batches go as files that HBase takes over whole.

    `staging`: a folder on the filesystem of `hbase.rootdir`, as a URI, to which the executors and HBase's own user may write. `from_rows`:
    rows of one table in a batch, after the rule; fewer are put one by one.
    """

    staging: Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]*:/.*[^/]")]
    from_rows: Annotated[int, Field(ge=1)] = 50_000


class HBaseSettings(Settings):
    """One HBase behind one or more Thrift2 gateways.

    `client` writes the rows: "thrift2" through the gateways, "jvm" straight to the region servers, found by `quorum`, the ZooKeeper
    servers of HBase as host:port. Tables are made and read through the gateways in any case. `client_options` are further settings of
    HBase's Java client as they are (`zookeeper.znode.parent`).
    `thrift`: the gateways as host:port; tasks are spread over them and go on to the next when one is silent. `transport` is theirs.
    `files`: with client "jvm" and guard "version", where large batches are written as files instead.
    `guard`: "version" lets HBase itself show the greater execute position; "check_and_mutate" compares whole orders, row by row.
    `salt_buckets`: 0 none, else into how many pieces neighbours are spread. `writers`: how many tasks write at the same time.
    `patience_seconds`: how long HBase may be away before the job ends and says so.
    """

    thrift: Annotated[tuple[Address, ...], Field(min_length=1)]
    client: Literal["thrift2", "jvm"] = "thrift2"
    quorum: tuple[Address, ...] = ()
    client_options: dict[str, str] = Field(default_factory=dict)
    files: FilesSettings | None = None
    transport: Literal["buffered", "framed"] = "buffered"
    namespace: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")] = "roma"
    guard: Literal["version", "check_and_mutate"] = "version"
    salt_buckets: Annotated[int, Field(ge=0, le=MAX_SALT_BUCKETS)] = 0
    writers: Annotated[int, Field(ge=1)] = 4
    rows_per_call: Annotated[int, Field(ge=1, le=100_000)] = 1000
    patience_seconds: Annotated[float, Field(ge=1)] = 120

    @model_validator(mode="after")
    def _the_jvm_finds_hbase(self) -> "HBaseSettings":
        if (self.client == "jvm") != bool(self.quorum):
            raise ValueError("client = 'jvm' and quorum go together: the ZooKeeper servers of HBase as host:port")
        if self.files is not None and (self.client, self.guard) != ("jvm", "version"):
            raise ValueError("files go with client = 'jvm' and guard = 'version': nothing compares the rows of a file")
        if self.client_options and self.client != "jvm":
            raise ValueError("client_options are those of HBase's Java client: they go with client = 'jvm'")
        return self

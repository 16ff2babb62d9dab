"""Which rows are published, under which names, and to which topics."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from relay.settings.base import Name, Settings, TopicName
from relay.settings.secrets import Secret


class FilterSettings(Settings):
    r"""Which real tables are relayed: Canal's comma-separated patterns over `db\.table`."""

    filter_regex: str = ".*\\..*"
    """Tables to publish: a comma list of regular expressions over `db\\.table`."""
    filter_black_regex: str = ""
    """Tables not to publish, in the same form."""
    operations: tuple[Literal["INSERT", "UPDATE", "DELETE", "DDL"], ...] = (
        "INSERT",
        "UPDATE",
        "DELETE",
        "DDL",
    )
    """Operations to publish."""


class RowRuleSettings(Settings):
    """A rule that selects rows and columns of some real tables.

    All rules that match a table apply together.
    """

    tables: Annotated[str, Field(min_length=1)]
    """Tables to which the rule applies, in the form of `filter_regex`."""
    operations: tuple[Literal["INSERT", "UPDATE", "DELETE"], ...] = ("INSERT", "UPDATE", "DELETE")
    """Operations to publish."""
    fields: tuple[str, ...] = ()
    """The only columns to publish; key columns are always included. Empty: all columns."""
    without_fields: tuple[str, ...] = ()
    """Columns not to publish. Key columns are published nevertheless."""
    where: str = ""
    """Condition for rows, in SQL syntax (docs/filters.md)."""


class MaskSettings(Settings):
    """How values of columns are hidden."""

    columns: Annotated[str, Field(min_length=1)]
    """Columns: a comma list as in `filter_regex`, over `database.table.column`."""
    method: Literal["hash", "truncate", "replace"]
    """`hash` needs `salt`; `truncate` keeps `length` characters.

    `replace` writes `value` or NULL.
    """
    salt: Secret | None = None
    """Key of the hash."""
    length: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Characters that `truncate` keeps."""
    value: str | None = None
    """Text that `replace` writes. Not set: NULL."""

    @model_validator(mode="after")
    def _each_has_what_it_needs(self) -> "MaskSettings":
        for setting, method, given in (
            ("salt", "hash", self.salt),
            ("value", "replace", self.value),
        ):
            if given is not None and self.method != method:
                raise ValueError(f"{setting} is for method = {method!r} only; remove it")
        if self.method == "hash" and self.salt is None:
            raise ValueError("method = 'hash' needs a salt; set salt to a secret")
        return self


class LookupSettings(Settings):
    """A query that transforms may send to the source's server. Its result is the first row of a
    SELECT.
    """

    name: Name
    """Name by which transforms use it."""
    query: Annotated[str, Field(pattern=r"(?is)^\s*select\b")]
    """SELECT statement; `%s` marks each argument."""
    cache_seconds: Annotated[float, Field(ge=0)] = 60
    """How long a result is cached."""
    cache_rows: Annotated[int, Field(ge=1)] = 10_000
    """Largest number of cached results."""


class TransformSettings(Settings):
    """A function for the rows of one logical table."""

    table: Annotated[str, Field(min_length=1)]
    """Logical table."""
    function: str
    """Name of the function among the entry points `roma.transforms`."""
    lookups: tuple[Name, ...] = ()
    """Lookups that the function may use."""
    adds: dict[str, str] = Field(default_factory=dict)
    """Columns that the function adds, with their types."""
    key: tuple[str, ...] = ()
    """Columns that identify the function's rows. Empty: the key columns of the source."""
    most_changes: Annotated[int, Field(ge=1, le=1000)] = 8
    """Largest number of changes that the function may return for one change."""


class RoutingSettings(Settings):
    """What happens to names that no mapping document lists, and where messages use real names."""

    unmapped_db: Literal["drop", "default_topic", "stop"] = "drop"
    """A database without a mapping: drop its rows, publish them to `default_topic`, or stop the
    instance.
    """
    unmapped_table: Literal["same_name", "drop", "stop"] = "same_name"
    """A table without a mapping: publish it under its own name, drop its rows, or stop the
    instance.
    """
    default_topic: TopicName | None = None
    """Topic of unmapped databases.

    With `{db}`, `{table}` or `{tag}` in the name, each database, table or tag has a separate topic.
    """
    names: Literal["logical", "real"] = "logical"
    """Publish logical or real names."""
    key_scope: Literal["logical", "shard"] = "logical"
    """`shard` includes the real name in message keys."""

    @model_validator(mode="after")
    def _default_topic_is_named(self) -> "RoutingSettings":
        if self.unmapped_db == "default_topic" and self.default_topic is None:
            raise ValueError("unmapped_db = 'default_topic' needs default_topic; set it to a topic")
        return self


class PartitionSettings(Settings):
    """How rows are assigned to partitions."""

    partition_hash: str = ".*\\..*:$pk$"
    """Rules `table regex:columns`, separated by commas. `$pk$` selects the primary key."""
    database_hash: bool = True
    """Include the logical database's name in the hash."""
    partitions_num: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Number of partitions of topics that the relay creates.

    Not set: one. Choose it before the first row.
    """

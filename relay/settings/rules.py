"""The published part of rows, and their names and topics."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from relay.settings.base import Name, Settings, TopicName
from relay.settings.secrets import Secret


class FilterSettings(Settings):
    r"""Which real tables are relayed: Canal's comma lists of patterns over `db\.table`."""

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
    """The published rows and columns of some real tables.

    Several rules for one table apply together.
    """

    tables: Annotated[str, Field(min_length=1)]
    """Tables of the rule, in the form of `filter_regex`."""
    operations: tuple[Literal["INSERT", "UPDATE", "DELETE"], ...] = ("INSERT", "UPDATE", "DELETE")
    """Operations to publish."""
    fields: tuple[str, ...] = ()
    """The only columns to publish, besides those of the key. Empty: all."""
    without_fields: tuple[str, ...] = ()
    """Columns not to publish; keys always are."""
    where: str = ""
    """Condition for rows, in SQL's words (docs/filters.md)."""


class MaskSettings(Settings):
    """The settings by which values of columns are hidden."""

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
                raise ValueError(f"{setting} belongs to method = {method!r}")
        if self.method == "hash" and self.salt is None:
            raise ValueError("method = 'hash' needs a salt")
        return self


class LookupSettings(Settings):
    """A query that transforms may send to the source's server: the first row of a SELECT."""

    name: Name
    """Name by which transforms use it."""
    query: Annotated[str, Field(pattern=r"(?is)^\s*select\b")]
    """SELECT with `%s` for its arguments."""
    cache_seconds: Annotated[float, Field(ge=0)] = 60
    """How long an answer is kept."""
    cache_rows: Annotated[int, Field(ge=1)] = 10_000
    """How many answers are kept."""


class TransformSettings(Settings):
    """A function for the rows of one logical table."""

    table: Annotated[str, Field(min_length=1)]
    """Logical table."""
    function: str
    """Name of the function among the entry points `roma.transforms`."""
    lookups: tuple[Name, ...] = ()
    """Lookups that it may use."""
    adds: dict[str, str] = Field(default_factory=dict)
    """Columns that it adds, with their types."""
    key: tuple[str, ...] = ()
    """Columns that identify its rows. Empty: those of the source."""
    most_changes: Annotated[int, Field(ge=1, le=1000)] = 8
    """Largest number of changes that the function may return for one."""


class RoutingSettings(Settings):
    """Treatment of names that no mapping document lists, and changes of real names."""

    unmapped_db: Literal["drop", "default_topic", "stop"] = "drop"
    """A database without a mapping: drop its rows, publish them to `default_topic`, or stop."""
    unmapped_table: Literal["same_name", "drop", "stop"] = "same_name"
    """A table without a mapping: its own name, drop its rows, or stop."""
    default_topic: TopicName | None = None
    """Topic of unmapped databases; `{db}`, `{table}` and `{tag}` in it give each its own."""
    names: Literal["logical", "real"] = "logical"
    """Publish logical or real names."""
    key_scope: Literal["logical", "shard"] = "logical"
    """`shard` adds the real name to message keys."""

    @model_validator(mode="after")
    def _default_topic_is_named(self) -> "RoutingSettings":
        if self.unmapped_db == "default_topic" and self.default_topic is None:
            raise ValueError("unmapped_db = 'default_topic' needs default_topic")
        return self


class PartitionSettings(Settings):
    """How rows are assigned to partitions."""

    partition_hash: str = ".*\\..*:$pk$"
    """Rules `table regex:columns`, separated by commas; `$pk$` is the key."""
    database_hash: bool = True
    """The logical database's name enters the hash."""
    partitions_num: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Partitions of the topics that the relay makes.

    Not set: one. Choose it before the first row.
    """

"""What is published of a row, and under which name and place."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, model_validator

from relay.settings.base import Name, Settings


class FilterSettings(Settings):
    """Which real tables are relayed: Canal's comma lists of regular expressions over `db\\.table`."""

    filter_regex: str = ".*\\..*"
    filter_black_regex: str = ""
    operations: tuple[Literal["INSERT", "UPDATE", "DELETE", "DDL"], ...] = ("INSERT", "UPDATE", "DELETE", "DDL")


class RowRuleSettings(Settings):
    """What is published of rows of some real tables; several rules for one table hold together.

    `tables` is a comma list as in `filter_regex`. `fields` are the only columns published (all where it is empty), `without_fields` never
    are; keys always are. `where` is a condition in SQL's words (docs/filters.md).
    """

    tables: Annotated[str, Field(min_length=1)]
    operations: tuple[Literal["INSERT", "UPDATE", "DELETE"], ...] = ("INSERT", "UPDATE", "DELETE")
    fields: tuple[str, ...] = ()
    without_fields: tuple[str, ...] = ()
    where: str = ""


class MaskSettings(Settings):
    """How values of some columns are hidden; `columns` is a comma list as in `filter_regex`, over `database.table.column`.

    "hash" needs `salt`, "truncate" keeps `length` characters, "replace" puts `value` there, or NULL.
    """

    columns: Annotated[str, Field(min_length=1)]
    method: Literal["hash", "truncate", "replace"]
    salt: SecretStr | None = None
    length: Annotated[int, Field(ge=0, le=10_000)] = 0
    value: str | None = None

    @model_validator(mode="after")
    def _each_has_what_it_needs(self) -> "MaskSettings":
        for setting, method, given in (("salt", "hash", self.salt), ("value", "replace", self.value)):
            if given is not None and self.method != method:
                raise ValueError(f"{setting} belongs to method = {method!r}")
        if self.method == "hash" and self.salt is None:
            raise ValueError("method = 'hash' needs a salt")
        return self


class LookupSettings(Settings):
    """A question that transforms may ask the source's server while it is read: the first row of a SELECT with `%s` for its arguments.

    Answers are kept for `cache_seconds`, the last `cache_rows` of them.
    """

    name: Name
    query: Annotated[str, Field(pattern=r"(?is)^\s*select\b")]
    cache_seconds: Annotated[float, Field(ge=0)] = 60
    cache_rows: Annotated[int, Field(ge=1)] = 10_000


class TransformSettings(Settings):
    """A function for the rows of one logical table, found among the entry points `roma.transforms`.

    `adds` are columns of its own by name and type, `key` the columns that name a row behind it (none: as at the source).
    """

    table: Annotated[str, Field(min_length=1)]
    function: str
    lookups: tuple[Name, ...] = ()
    adds: dict[str, str] = Field(default_factory=dict)
    key: tuple[str, ...] = ()
    most_changes: Annotated[int, Field(ge=1, le=1000)] = 8


class RoutingSettings(Settings):
    """What happens to names that no mapping document lists, and what real names become."""

    unmapped_db: Literal["drop", "default_topic", "stop"] = "drop"
    unmapped_table: Literal["same_name", "drop", "stop"] = "same_name"
    default_topic: Name | None = None
    names: Literal["logical", "real"] = "logical"
    key_scope: Literal["logical", "shard"] = "logical"

    @model_validator(mode="after")
    def _default_topic_is_named(self) -> "RoutingSettings":
        if self.unmapped_db == "default_topic" and self.default_topic is None:
            raise ValueError("unmapped_db = 'default_topic' needs default_topic")
        return self


class PartitionSettings(Settings):
    """Placement: the partitionHash rules, and how many partitions a topic is created with."""

    partition_hash: str = ".*\\..*:$pk$"
    database_hash: bool = True
    partitions_num: Annotated[int, Field(ge=1, le=100_000)] | None = None

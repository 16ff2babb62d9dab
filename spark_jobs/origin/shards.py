"""Opens all sources of a job: their databases, and the real tables of each logical table."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pyspark.sql import SparkSession

from relay.errors import RelayError
from relay.model.change import Operation
from relay.model.table import TableId
from relay.route import Documents, MappingSet, TableFilter, read_mapping_files
from relay.route.mapping_document import read_documents
from relay.route.mapping_rules import read_rules
from spark_jobs.config.copy import SourceServer
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import (
    JobConfigurationError,
    SourcesIncomplete,
    TableUnknown,
    TransformNotCopied,
)
from spark_jobs.origin import Shard, SourceColumn, SourceDatabase, read_shards


@dataclass(frozen=True, slots=True)
class LogicalTable:
    """A logical table `database.table` and its shards, which may be in several instances.

    ignored  names in lower case of columns that its copy does not have
    unseen   real databases that may have shards of the table, but in which no source shows a table
    """

    name: str
    shards: Sequence[Shard]
    ignored: frozenset[str] = frozenset()
    unseen: Sequence[str] = ()

    @property
    def instances(self) -> Sequence[str]:
        """The sources with shards of the table, sorted: instances, or `instance/name` for
        groups.
        """
        return sorted({shard.instance for shard in self.shards})

    @property
    def columns(self) -> Sequence[SourceColumn]:
        """The columns that messages of the shards have, each name once; the first shard with a
        column determines its type.
        """
        return _each_once(
            column
            for shard in self.shards
            for column in shard.published
            if column.name.lower() not in self.ignored
        )

    @property
    def unpublished(self) -> Sequence[SourceColumn]:
        """The columns of shards that no message has. A copy has no values for these columns, or
        only old values.
        """
        published = {column.name.lower() for column in self.columns} | self.ignored
        return _each_once(
            column
            for shard in self.shards
            for column in shard.columns
            if column.name.lower() not in published
        )

    @property
    def without_key(self) -> Sequence[str]:
        """Names of the shards whose table has no key."""
        return [shard.name for shard in self.shards if not shard.key_names]

    @property
    def transformed(self) -> bool:
        """Whether a transform changes the table's rows in messages."""
        return any(shard.transformed for shard in self.shards)

    @property
    def ruled(self) -> bool:
        """Whether messages of a shard have other rows, columns or values than its source."""
        return any(shard.rules is not None for shard in self.shards)

    def leaves_out(self, *operations: Operation) -> Sequence[str]:
        """Return those of the operations that the instance of some shard does not publish."""
        return [
            str(each)
            for each in operations
            if any(each not in shard.operations for shard in self.shards)
        ]


@dataclass(frozen=True, slots=True)
class Sources:
    """The databases by instance (or `instance/name` for a group), and the logical tables, sorted by
    name.
    """

    databases: Mapping[str, SourceDatabase]
    tables: Sequence[LogicalTable]


def open_sources(
    spark: SparkSession, settings: JobSettings, wanted: Collection[str] = ()
) -> Sources:
    """Return the databases and tables of all sources.

    wanted  names of logical tables; empty: all

    Raises JobConfigurationError, and TableUnknown if no source has a wanted table.
    """
    if not settings.sources:
        raise JobConfigurationError("The file has no [[sources]], which name the servers.")
    databases = {
        each.key: SourceDatabase(
            spark,
            _as_published(each, settings),
            only_primary_keys=settings.value_style == "canal",
        )
        for each in settings.sources
    }
    try:
        documents = read_mapping_files(settings.mapping)
        mapping = MappingSet.compile(0, documents)
        shards = [
            shard for database in databases.values() for shard in read_shards(database, mapping)
        ]
    except RelayError as exc:
        raise JobConfigurationError(str(exc)) from exc
    tables = logical_tables(shards)
    if not tables:
        raise TableUnknown("The user can see no relayed table in any source.")
    if missing := sorted(set(wanted) - {table.name for table in tables}):
        raise TableUnknown(f"No source has a table that is relayed as {', '.join(missing)}.")
    asked = [table for table in tables if not wanted or table.name in wanted]
    unshown = _unshown(documents, {shard.real.database for shard in shards})
    return Sources(
        databases,
        [replace(table, unseen=_unseen(table, unshown, settings.sources)) for table in asked],
    )


def _as_published(server: SourceServer, settings: JobSettings) -> SourceServer:
    """Return the source with the settings that the messages' style determines."""
    return (
        server.model_copy(update={"system_versions": "rows"})
        if settings.value_style == "canal"
        else server
    )


def logical_tables(shards: Sequence[Shard]) -> Sequence[LogicalTable]:
    """Return the logical tables of these shards, sorted by name."""
    ordered = sorted(shards, key=lambda shard: (shard.logical, shard.name))
    return [
        LogicalTable(name, tuple(each))
        for name, each in groupby(ordered, key=lambda shard: shard.logical)
    ]


def refuse_unseen(table: LogicalTable, gone: int) -> None:
    """Raise SourcesIncomplete if missing rows may be in a database that no source shows.

    `gone` is the number of keys of the copy that no source has.
    """
    if gone and table.unseen:
        raise SourcesIncomplete(
            f"{gone} rows of {table.name} are in no table of [[sources]], so the job would "
            f"remove them from the copy. But the mapping also assigns {', '.join(table.unseen)} "
            "to it, and no source shows a table there. If that is permanently removed, delete "
            "it from the mapping."
        )


def _unshown(documents: Documents, shown: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Logical database → the real databases that the mapping names and no source has."""
    found: dict[str, list[str]] = {}
    for rule in read_rules(read_documents(documents)[0]).databases:
        if rule.real.expression is None and rule.real.text not in shown:
            found.setdefault(rule.logical, []).append(rule.real.text)
    return found


def _unseen(
    table: LogicalTable, unshown: Mapping[str, Sequence[str]], servers: Sequence[SourceServer]
) -> Sequence[str]:
    """Return those of these databases whose tables some instance would accept."""
    filters = [TableFilter(server.filter) for server in servers]
    names = {shard.real.table for shard in table.shards}
    databases = unshown.get(table.name.partition(".")[0], ())
    return [
        each
        for each in databases
        if any(one.accepts(TableId(each, name)) for one in filters for name in names)
    ]


def _each_once(columns: Iterable[SourceColumn]) -> Sequence[SourceColumn]:
    found: dict[str, SourceColumn] = {}
    for column in columns:
        found.setdefault(column.name.lower(), column)
    return tuple(found.values())


def refuse_transforms(tables: Sequence[LogicalTable]) -> None:
    """Raise TransformNotCopied if a transform changes the rows of one of the tables in messages."""
    if names := [table.name for table in tables if table.transformed]:
        raise TransformNotCopied(
            f"Transforms change the rows of {', '.join(names)}, and a SELECT does not."
        )

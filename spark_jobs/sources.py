"""All sources of a job together: their databases, and the real tables behind each logical one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pyspark.sql import SparkSession

from relay.errors import RelayError
from relay.route import MappingSet, read_mapping_files
from spark_jobs.errors import JobConfigurationError, TableUnknown
from spark_jobs.settings import JobSettings
from spark_jobs.source import Shard, SourceColumn, SourceDatabase, read_shards


@dataclass(frozen=True, slots=True)
class LogicalTable:
    """A logical table `database.table` and its shards, in any number of instances."""

    name: str
    shards: Sequence[Shard]

    @property
    def instances(self) -> Sequence[str]:
        """The instances that have shards of it, sorted."""
        return sorted({shard.instance for shard in self.shards})

    @property
    def columns(self) -> Sequence[SourceColumn]:
        """The columns of all shards, each name once, as the first shard that has it describes it."""
        found: dict[str, SourceColumn] = {}
        for shard in self.shards:
            for column in shard.columns:
                found.setdefault(column.name.lower(), column)
        return tuple(found.values())

    @property
    def without_key(self) -> Sequence[str]:
        """The shards whose rows no key names."""
        return [shard.name for shard in self.shards if not shard.key_names]


@dataclass(frozen=True, slots=True)
class Sources:
    """Instance → database, and the logical tables by name."""

    databases: Mapping[str, SourceDatabase]
    tables: Sequence[LogicalTable]


def open_sources(spark: SparkSession, settings: JobSettings, wanted: Collection[str] = ()) -> Sources:
    """Ask every source for its tables; with `wanted` only these logical ones. Raises JobConfigurationError and TableUnknown."""
    if not settings.sources:
        raise JobConfigurationError("There is no [[sources]]: which servers have the tables?")
    databases = {each.instance: SourceDatabase(spark, each) for each in settings.sources}
    try:
        mapping = MappingSet.compile(0, read_mapping_files(settings.mapping))
        shards = [shard for database in databases.values() for shard in read_shards(database, mapping)]
    except RelayError as exc:
        raise JobConfigurationError(str(exc)) from exc
    tables = logical_tables(shards)
    if missing := sorted(set(wanted) - {table.name for table in tables}):
        raise TableUnknown(f"No source has a table that is relayed as {', '.join(missing)}.")
    return Sources(databases, [table for table in tables if not wanted or table.name in wanted])


def logical_tables(shards: Sequence[Shard]) -> Sequence[LogicalTable]:
    """Group shards by their logical name."""
    ordered = sorted(shards, key=lambda shard: (shard.logical, shard.name))
    return [LogicalTable(name, tuple(each)) for name, each in groupby(ordered, key=lambda shard: shard.logical)]

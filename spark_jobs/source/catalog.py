"""Which tables of a source are relayed, under which logical names, and what they look like."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from pyspark.sql import Row

from relay.model.table import TableId
from relay.route import Destination, MappingSet, Router, TableFilter
from spark_jobs.copy_settings import SourceServer
from spark_jobs.source.columns import SourceColumn
from spark_jobs.source.database import SourceDatabase
from spark_jobs.source.row_rules import RowRules
from spark_jobs.source.shard import Shard

_SYSTEM: Final = ("mysql", "sys", "information_schema", "performance_schema")
_COLUMNS: Final = (
    "SELECT c.TABLE_SCHEMA AS db, c.TABLE_NAME AS tb, c.COLUMN_NAME AS name, LOWER(c.DATA_TYPE) AS kind, c.COLUMN_TYPE AS type_text, "
    "c.COLLATION_NAME AS collation FROM information_schema.COLUMNS c JOIN information_schema.TABLES t USING (TABLE_SCHEMA, TABLE_NAME) "
    "WHERE t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND c.TABLE_SCHEMA IN ({databases}) "
    "ORDER BY c.TABLE_SCHEMA, c.TABLE_NAME, c.ORDINAL_POSITION"
)
# In the server's own order, which is that of SHOW INDEX: the first key that serves is the one that the relay takes.
_KEYS: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, s.INDEX_NAME AS key_name, s.COLUMN_NAME AS name, s.SEQ_IN_INDEX AS place, "
    "s.NULLABLE AS nullable, s.SUB_PART AS part FROM information_schema.STATISTICS s JOIN information_schema.TABLES t "
    "USING (TABLE_SCHEMA, TABLE_NAME) WHERE s.NON_UNIQUE = 0 AND t.TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA IN ({databases})"
)


def read_shards(database: SourceDatabase, mapping: MappingSet) -> Sequence[Shard]:
    """Return the tables that the instance relays, those without a key included (their `key_names` are empty).

    Raises SourceUnreachable or SourceRefused, UnmappedName where the routing says stop, and RuleRefused where
    a rule or mask cannot be put to a table.
    """
    wanted = list(_relayed_databases(database, mapping))
    if not wanted:
        return ()
    names = ", ".join(f"X'{name.encode().hex()}'" for name in wanted)
    described = database.rows(_COLUMNS.format(databases=names))
    return shards_of(database.settings, mapping, described, database.rows(_KEYS.format(databases=names)))


def shards_of(settings: SourceServer, mapping: MappingSet, columns: Iterable[Row], keys: Iterable[Row]) -> Sequence[Shard]:
    """Return the shards among these rows of the catalogue, which come table by table."""
    router, passes = Router(mapping, settings.routing), TableFilter(settings.filter)
    key_of = _keys(keys)
    found = []
    for real, described in groupby(columns, key=lambda row: TableId(row["db"], row["tb"])):
        table = tuple(SourceColumn(row["name"], row["kind"], row["type_text"], row["collation"] or "") for row in described)
        route = router.route(real) if passes.accepts(real) else None
        if isinstance(route, Destination):
            found.append(_shard(settings, passes, RowRules(settings.of_rows, real, route.logical, table, key_of.get(real, ()))))
    return found


def _shard(settings: SourceServer, passes: TableFilter, rules: RowRules) -> Shard:
    """The real table, with its rules where it has some."""
    logical = str(rules.logical)
    return Shard(
        instance=settings.key,
        real=rules.real,
        logical=logical,
        columns=rules.columns,
        key_names=rules.key_names,
        shard_in_key=settings.routing.key_scope == "shard",
        rules=None if rules.refinement is None else rules,
        operations=frozenset(each for each in rules.operations if passes.accepts_operation(each)),
        transformed=any(each.table == logical for each in settings.transforms),
    )


def _relayed_databases(database: SourceDatabase, mapping: MappingSet) -> Iterator[str]:
    router = Router(mapping, database.settings.routing)
    for row in database.rows("SELECT SCHEMA_NAME AS db FROM information_schema.SCHEMATA"):
        if row["db"] not in _SYSTEM and isinstance(router.route_database(row["db"]), Destination):
            yield row["db"]


def _keys(rows: Iterable[Row]) -> Mapping[TableId, tuple[str, ...]]:
    """The primary key of each table, else its first unique key without nulls; one over a part of a column names no row."""
    parts: dict[tuple[TableId, str], list[Row]] = {}
    for row in rows:
        parts.setdefault((TableId(row["db"], row["tb"]), row["key_name"]), []).append(row)
    found: dict[TableId, tuple[str, ...]] = {}
    for (real, name), columns in parts.items():
        whole = all(each["nullable"] != "YES" and each["part"] is None and each["name"] is not None for each in columns)
        if whole and (name == "PRIMARY" or real not in found):
            found[real] = tuple(each["name"] for each in sorted(columns, key=lambda each: each["place"]))
    return found

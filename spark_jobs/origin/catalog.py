"""Finds the tables of a source that its instance publishes, with their logical names and
definitions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, NamedTuple

from pyspark.sql import Row

from relay.model.source_rows.columns import SourceColumn
from relay.model.table import TableId
from relay.route import Destination, MappingSet, Router, TableFilter
from spark_jobs.config.copy import SourceServer
from spark_jobs.origin.database import SourceDatabase
from spark_jobs.origin.row_rules import RowRules
from spark_jobs.origin.shard import Shard

_SYSTEM: Final = ("mysql", "sys", "information_schema", "performance_schema")
_COLUMNS: Final = (
    "SELECT c.TABLE_SCHEMA AS db, c.TABLE_NAME AS tb, c.COLUMN_NAME AS name, LOWER(c.DATA_TYPE) "
    "AS kind, c.COLUMN_TYPE AS type_text, "
    "c.COLLATION_NAME AS collation FROM information_schema.COLUMNS c JOIN "
    "information_schema.TABLES t USING (TABLE_SCHEMA, TABLE_NAME) "
    "WHERE t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND c.TABLE_SCHEMA IN "
    "({databases}){and_tables} "
    "ORDER BY c.TABLE_SCHEMA, c.TABLE_NAME, c.ORDINAL_POSITION"
)
# In the server's own order, which is that of SHOW INDEX: the first key that serves is the one that
# the relay takes.
_KEYS: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, s.INDEX_NAME AS key_name, s.COLUMN_NAME AS "
    "name, s.SEQ_IN_INDEX AS place, "
    "s.NULLABLE AS nullable, s.SUB_PART AS part FROM information_schema.STATISTICS s JOIN "
    "information_schema.TABLES t "
    "USING (TABLE_SCHEMA, TABLE_NAME) WHERE s.NON_UNIQUE = 0 AND t.TABLE_TYPE IN ({types}) AND "
    "TABLE_SCHEMA IN ({databases}){and_tables}"
)
_PRIMARY: Final = "PRIMARY"
"""The name of a PRIMARY KEY in the catalogue."""
_VERSIONED: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb FROM information_schema.TABLES "
    "WHERE TABLE_TYPE = 'SYSTEM VERSIONED' AND TABLE_SCHEMA IN ({databases}){and_tables}"
)
_ENDS: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, COLUMN_NAME AS name, LOWER(DATA_TYPE) AS kind "
    "FROM information_schema.COLUMNS "
    "WHERE GENERATION_EXPRESSION = 'ROW END' AND TABLE_SCHEMA IN ({databases}){and_tables}"
)
_HIDDEN: Final = tuple(
    SourceColumn(name, "timestamp", "timestamp(6)") for name in ("row_start", "row_end")
)
"""The columns of a system-versioned table that the catalogue does not show, and messages have."""


_NO_ENDS: Final[Mapping[TableId, str]] = {}


class _Described(NamedTuple):
    """The catalogue's rows of columns and of unique keys, and the end of versions of the tables
    that have them: "" where it is hidden.
    """

    columns: Sequence[Row]
    keys: Sequence[Row]
    ends: Mapping[TableId, str]


def read_shards(database: SourceDatabase, mapping: MappingSet) -> Sequence[Shard]:
    """Return the tables that the instance relays, also those without a key (`key_names` is then
    empty).

    Raises SourceUnreachable or SourceRefused, UnmappedName for a name without a mapping if the
    routing has the value "stop" for such names, and RuleRefused if a rule or mask does not fit a
    table.
    """
    wanted = list(_relayed_databases(database, mapping))
    if not wanted:
        return ()
    return shards_of(database.settings, mapping, *_described(database, wanted))


def described_now(database: SourceDatabase, shards: Sequence[Shard]) -> Sequence[Shard]:
    """Return these shards with the present columns and keys of the source. Dropped tables are
    omitted.

    Raises SourceUnreachable or SourceRefused.
    """
    found = _described(
        database, [each.real.database for each in shards], [each.real.table for each in shards]
    )
    tables, key_of = _columns(found.columns, found.ends), _keys(found.keys, found.ends)
    return [
        replace(each, columns=tables[each.real], key_names=key_of.get(each.real, ()))
        for each in shards
        if each.real in tables
    ]


def shards_of(
    settings: SourceServer,
    mapping: MappingSet,
    columns: Iterable[Row],
    keys: Iterable[Row],
    ends: Mapping[TableId, str] = _NO_ENDS,
) -> Sequence[Shard]:
    """Return the shards that rows of the server's catalogue describe.

    columns  one row for each column, sorted by table
    keys     one row for each column of a key
    ends     table → the column that ends a version of a row, in tables with system versioning; ""
             if the catalogue does not show the column
    """
    router, passes = Router(mapping, settings.routing), TableFilter(settings.filter)
    key_of = _keys(keys, ends)
    found = []
    for real, table in _columns(columns, ends).items():
        route = router.route(real) if passes.accepts(real) else None
        if isinstance(route, Destination):
            key, end = key_of.get(real, ()), ends.get(real)
            of_end = "" if end is None else end or _HIDDEN[-1].name
            found.append(
                _shard(
                    settings,
                    passes,
                    RowRules(
                        settings.of_rows,
                        real,
                        route.logical,
                        table,
                        key,
                        of_end,
                        settings.key_values == "lossless",
                    ),
                )
            )
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
        lossless_keys=rules.lossless_keys,
    )


def _relayed_databases(database: SourceDatabase, mapping: MappingSet) -> Iterator[str]:
    router = Router(mapping, database.settings.routing)
    for row in database.rows("SELECT SCHEMA_NAME AS db FROM information_schema.SCHEMATA"):
        if row["db"] not in _SYSTEM and isinstance(router.route_database(row["db"]), Destination):
            yield row["db"]


def _described(
    database: SourceDatabase, databases: Sequence[str], tables: Sequence[str] = ()
) -> _Described:
    """Query the catalogue; with `tables` only for tables with one of these names.

    A key that messages do not have is omitted, because its rows could not be joined with them.
    """
    marked = database.settings.system_versions == "marked"
    conditions = {
        "databases": _texts(databases),
        "and_tables": f" AND TABLE_NAME IN ({_texts(tables)})" if tables else "",
    }
    types = "'BASE TABLE', 'SYSTEM VERSIONED'" if marked else "'BASE TABLE'"
    columns = database.rows(_COLUMNS.format(**conditions))
    keys = database.rows(_KEYS.format(types=types, **conditions))
    versioned = (
        {_id(row): "" for row in database.rows(_VERSIONED.format(**conditions))} if marked else {}
    )
    # Only servers that store versions certainly have this column of the catalogue.
    declared = database.rows(_ENDS.format(**conditions)) if versioned else ()
    numbered = {_id(row) for row in declared if row["kind"] != _HIDDEN[-1].kind}
    return _Described(
        columns,
        [
            row
            for row in keys
            if _id(row) not in numbered
            and (row["key_name"] == _PRIMARY or not database.only_primary_keys)
        ],
        {**versioned, **{_id(row): row["name"] for row in declared}},
    )


def _id(row: Row) -> TableId:
    return TableId(row["db"], row["tb"])


def _texts(names: Iterable[str]) -> str:
    return ", ".join(f"X'{name.encode().hex()}'" for name in dict.fromkeys(names))


def _columns(
    rows: Iterable[Row], ends: Mapping[TableId, str]
) -> Mapping[TableId, tuple[SourceColumn, ...]]:
    """Return each table's columns in their order, those that the catalogue does not show included.

    The rows come table by table.
    """
    shown = {
        real: tuple(
            SourceColumn(row["name"], row["kind"], row["type_text"], row["collation"] or "")
            for row in described
        )
        for real, described in groupby(rows, key=_id)
    }
    return {
        real: (*columns, *(_HIDDEN if ends.get(real) == "" else ()))
        for real, columns in shown.items()
    }


def _keys(rows: Iterable[Row], ends: Mapping[TableId, str]) -> Mapping[TableId, tuple[str, ...]]:
    """The primary key of each table, else its first unique key without nulls.

    One over a part of a column names no row.

    Messages of current rows have no end of their version in the key.
    """
    parts: dict[tuple[TableId, str], list[Row]] = {}
    for row in rows:
        parts.setdefault((_id(row), row["key_name"]), []).append(row)
    found: dict[TableId, tuple[str, ...]] = {}
    for (real, name), columns in parts.items():
        whole = all(
            each["nullable"] != "YES" and each["part"] is None and each["name"] is not None
            for each in columns
        )
        if whole and (name == _PRIMARY or real not in found):
            names = (each["name"] for each in sorted(columns, key=lambda each: each["place"]))
            found[real] = tuple(name for name in names if name != ends.get(real))
    return found

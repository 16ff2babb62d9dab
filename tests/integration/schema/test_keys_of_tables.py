"""The forms of keys that preflight computes from the catalogue are those that the relay computes
from row events.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final

import pytest

from deploy.embedded import SqlServer
from relay.decode import parse_table_map
from relay.model.change import RawRows
from relay.model.table import TableId
from relay.pipeline.delivery.keys.table_partitioning import partition_rule, table_partitioning
from relay.preflight.key_checks import TablesNow, WithoutKeys
from relay.refine import Refinements
from relay.route import MappingSet, Router
from relay.schema import CatalogReader, TableDefinitions
from relay.schema.type_text import type_text
from relay.settings import InstanceSettings
from relay.state import HashedKey
from tests.support.sources.source_reading import end_of, read, source_settings
from tests.unit.route.mappings import documents

KEYS: Final = {
    "both": {
        "whole": ("INT PRIMARY KEY", "1"),
        "zeros": ("INT(5) ZEROFILL PRIMARY KEY", "1"),
        "signless": ("BIGINT UNSIGNED PRIMARY KEY", "1"),
        "single": ("FLOAT PRIMARY KEY", "1"),
        "exact": ("DOUBLE PRIMARY KEY", "1"),
        "digits": ("DECIMAL(20, 10) PRIMARY KEY", "1"),
        "nine": ("DECIMAL(20, 9) PRIMARY KEY", "1"),
        "latin": ("VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY", "'a'"),
        "utf": ("VARCHAR(20) CHARACTER SET utf8mb4 PRIMARY KEY", "'a'"),
        "seven": ("CHAR(20) CHARACTER SET ascii PRIMARY KEY", "'a'"),
        "chinese": ("CHAR(20) CHARACTER SET gbk PRIMARY KEY", "'a'"),
        "bytes": ("BINARY(16) PRIMARY KEY", "'a'"),
        "more": ("VARBINARY(16) PRIMARY KEY", "'a'"),
        "marked": ("ENUM('x', 'y') PRIMARY KEY", "'x'"),
        "marks": ("SET('x', 'y') PRIMARY KEY", "'x'"),
        "moment": ("DATETIME(3) PRIMARY KEY", "'2026-01-01'"),
        "year": ("YEAR PRIMARY KEY", "2026"),
        "alone": ("VARCHAR(20) CHARACTER SET latin1 NOT NULL UNIQUE", "'a'"),
        "keyless": ("INT", "1"),
    },
    "mysql": {},
    "mariadb": {
        "named": ("UUID PRIMARY KEY", "'00000000-0000-0000-0000-000000000001'"),
        "address": ("INET6 PRIMARY KEY", "'::1'"),
    },
}
"""Table → the key column, and a value."""


@pytest.fixture
def schema(database: SqlServer, fresh_name: Callable[[str], str]) -> Iterator[str]:
    name = fresh_name("keyed")
    database.execute(f"CREATE DATABASE {name} CHARACTER SET latin1")
    yield name
    database.execute(f"DROP DATABASE {name}")


def written(database: SqlServer, schema: str, instance: InstanceSettings) -> dict[str, str]:
    """Make the tables, write a row into each, and return its form as the relay reads it."""
    start = end_of(database)
    for table, (column, value) in {**KEYS["both"], **KEYS[database.family]}.items():
        database.execute(
            f"CREATE TABLE {schema}.{table} (n INT, k {column})",
            f"INSERT INTO {schema}.{table} VALUES (1, {value})",
        )
    forms = {}
    rule = partition_rule(instance, 1)
    with closing(CatalogReader(source_settings(database))) as catalog:
        definitions = TableDefinitions(
            type_text, catalog, as_declared=instance.message.value_style == "canal"
        )
        for item in read(source_settings(database), start, end_of(database)):
            if isinstance(item, RawRows):
                table_map = parse_table_map(item.table_map, mariadb=item.mariadb)
                if table_map.id.database == schema:
                    definition = definitions.define(table_map)
                    logical = TableId("shop", table_map.id.table)
                    forms[table_map.id.table] = table_partitioning(rule, definition, logical)[1]
    return forms


@pytest.mark.parametrize("style", ["exact", "canal"])
def test_keys_are_hashed_as_preflight_says(database: SqlServer, schema: str, style: str) -> None:
    instance = settings(database, schema, style, partition_hash=r"shop\.keyless:n,.*\..*:$pk$")
    read_by_relay = written(database, schema, instance)
    told = keys_told(database, schema, instance)
    assert told == {table: form for table, form in read_by_relay.items() if form}
    assert told["latin"] == "latin1"
    assert "keyless" in told
    assert ("alone" in told) == (style == "exact")


def test_a_table_to_which_a_rule_cannot_be_applied_is_named(
    database: SqlServer, schema: str
) -> None:
    database.execute(
        f"CREATE TABLE {schema}.fits (id INT PRIMARY KEY, state INT)",
        f"CREATE TABLE {schema}.lacks (id INT PRIMARY KEY)",
    )
    rules = [{"where": "state = 1"}]
    keys, without = found_keys(database, schema, settings(database, schema, "exact", rules=rules))
    assert [real.table for real, _ in keys] == ["fits"]
    ((error, tables),) = without.refused.values()
    assert (error.code, [each.table for each in tables]) == ("RULE_REFUSED", ["lacks"])
    assert "state" in error.reason


def keys_told(database: SqlServer, schema: str, instance: InstanceSettings) -> dict[str, str]:
    keys, without = found_keys(database, schema, instance)
    assert without == WithoutKeys()
    assert {key.topic for _, key in keys} == {"shop"}
    return {real.table: key.form for real, key in keys}


def found_keys(
    database: SqlServer, schema: str, instance: InstanceSettings
) -> tuple[list[tuple[TableId, HashedKey]], WithoutKeys]:
    """Return the keys of the schema's tables, and the tables without keys to compare."""
    mapping = MappingSet.compile(
        1,
        documents(
            dbs=[{"logicDb": "shop", "realDbs": schema}],
            topics=[{"logicDb": "shop", "topic": "shop"}],
        ),
    )
    without = WithoutKeys()
    with closing(CatalogReader(source_settings(database))) as catalog:
        tables = TablesNow(instance, catalog, Refinements(instance, {}))
        return list(tables.keys(Router(mapping, instance.routing), without)), without


def settings(
    database: SqlServer,
    schema: str,
    style: str,
    rules: Sequence[Mapping[str, str]] = (),
    **partition: Any,
) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {
            "name": "shop",
            "source": {"host": database.host, "user": "u"},
            "filter": {"filter_regex": rf"{schema}\..*"},
            "message": {"value_style": style},
            "partition": partition,
            "rules": [{"tables": rf"{schema}\..*", **each} for each in rules],
        }
    )

"""Which real tables are shards of which logical ones, from rows of the catalogue."""

import json
from typing import Any

import pytest
from pyspark.sql import Row

from relay.model.change import Operation
from relay.model.table import TableId
from relay.route import DBS, TBS, TOPICS, MappingSet
from spark_jobs.config.copy import SourceServer
from spark_jobs.errors import TransformNotCopied
from spark_jobs.origin.catalog import read_shards, shards_of
from spark_jobs.origin.shards import LogicalTable, logical_tables, refuse_transforms

MAPPING = MappingSet.compile(
    1,
    {
        DBS: json.dumps([{"logicDb": "shop", "realDbs": "shop_1,shop_2"}]),
        TBS: json.dumps([{"logicTb": "orders", "realTbs": "/orders_\\d+/"}]),
        TOPICS: json.dumps([{"logicDb": "shop", "topic": "shop"}]),
    },
)


def column(db: str, tb: str, name: str, kind: str = "int") -> Row:
    return Row(db=db, tb=tb, name=name, kind=kind, type_text=kind, collation=None)


def key(
    db: str,
    tb: str,
    name: str,
    column: str,
    place: int = 1,
    *,
    nullable: str = "",
    part: int | None = None,
) -> Row:
    return Row(db=db, tb=tb, key_name=name, name=column, place=place, nullable=nullable, part=part)


COLUMNS = [
    column("shop_1", "log", "line"),
    column("shop_1", "orders_1", "id"),
    column("shop_1", "orders_1", "note"),
    column("shop_2", "orders_2", "id"),
    column("shop_2", "orders_2", "extra"),
]
KEYS = [
    key("shop_1", "orders_1", "maybe", "note", nullable="YES"),
    key("shop_1", "orders_1", "part", "note", part=4),
    key("shop_1", "orders_1", "both", "id", 2),
    key("shop_1", "orders_1", "both", "note", 1),
    key("shop_1", "orders_1", "later", "id"),
    key("shop_2", "orders_2", "unique", "extra"),
    key("shop_2", "orders_2", "PRIMARY", "id"),
]


def test_current_rows_of_versioned_tables_have_keys_without_the_end() -> None:
    settings = SourceServer(instance="one", host="h", user="u")
    ends = {TableId("shop_1", "orders_1"): "", TableId("shop_2", "orders_2"): "extra"}
    keys = [*KEYS, key("shop_2", "orders_2", "PRIMARY", "extra", 2)]
    found = {each.real.table: each for each in shards_of(settings, MAPPING, COLUMNS, keys, ends)}
    hidden, own = found["orders_1"], found["orders_2"]
    assert ([each.name for each in hidden.columns], hidden.key_names) == (
        ["id", "note", "row_start", "row_end"],
        ("note", "id"),
    )
    assert ([each.name for each in own.columns], own.key_names) == (["id", "extra"], ("id",))


def test_shards_of_two_databases_make_one_table() -> None:
    settings = SourceServer(instance="one", host="h", user="u")
    log, orders = logical_tables(shards_of(settings, MAPPING, COLUMNS, KEYS))
    assert (log.name, log.without_key) == ("shop.log", ["one/shop_1.log"])
    assert (orders.name, orders.instances, orders.without_key) == ("shop.orders", ["one"], [])
    assert [shard.key_names for shard in orders.shards] == [("note", "id"), ("id",)]
    assert [each.name for each in orders.columns] == ["id", "note", "extra"]


@pytest.mark.parametrize(
    ("routing", "black", "names"),
    [
        ({"names": "real"}, "", ["shop_1.log", "shop_1.orders_1", "shop_2.orders_2"]),
        ({"unmapped_table": "drop"}, "", ["shop.orders", "shop.orders"]),
        ({}, "shop_2\\..*", ["shop.log", "shop.orders"]),
    ],
)
def test_routing_and_filter_are_the_instances(
    routing: dict[str, str], black: str, names: list[str]
) -> None:
    document = {
        "instance": "one",
        "host": "h",
        "user": "u",
        "routing": routing,
        "filter": {"filter_black_regex": black},
    }
    found = shards_of(SourceServer.model_validate(document), MAPPING, COLUMNS, KEYS)
    assert [shard.logical for shard in found] == names


def tables(**asked: object) -> list[LogicalTable]:
    """shop.log and shop.orders of an instance with these settings."""
    document = {"instance": "one", "host": "h", "user": "u", **asked}
    return list(
        logical_tables(shards_of(SourceServer.model_validate(document), MAPPING, COLUMNS, KEYS))
    )


def test_rules_and_masks_make_the_columns_of_messages() -> None:
    rules = [
        {"tables": "shop_1\\.orders_1", "without_fields": ["note"]},
        {"tables": "shop_2\\..*", "fields": ["extra"]},
    ]
    masks = [{"columns": ".*\\.extra", "method": "hash", "salt": "a salt that nobody would guess"}]
    log, orders = tables(rules=rules, masks=masks)
    assert (log.ruled, orders.ruled) == (False, True)
    assert [(each.name, each.type_text) for each in orders.columns] == [
        ("id", "int"),
        ("note", "int"),
        ("extra", "varchar(64)"),
    ]
    assert json.loads(orders.shards[1].mysql_types) == {"id": "int", "extra": "varchar(64)"}
    assert orders.unpublished == ()


def test_columns_that_no_message_has_are_known() -> None:
    _, orders = tables(rules=[{"tables": ".*", "without_fields": ["extra", "note"]}])
    assert [each.name for each in orders.columns] == ["id", "note"], "note is of a key"
    assert [each.name for each in orders.unpublished] == ["extra"]


@pytest.mark.parametrize(
    ("asked", "left_out"),
    [
        ({}, []),
        ({"filter": {"operations": ["INSERT", "DDL"]}}, ["UPDATE", "DELETE"]),
        ({"rules": [{"tables": ".*orders_2", "operations": ["INSERT", "UPDATE"]}]}, ["DELETE"]),
    ],
)
def test_operations_that_an_instance_leaves_out_are_known(
    asked: dict[str, object], left_out: list[str]
) -> None:
    _, orders = tables(**asked)
    assert orders.leaves_out(*Operation) == left_out


def test_tables_with_a_transform_are_refused_by_name() -> None:
    found = tables(transforms=[{"table": "shop.orders", "function": "not_here"}])
    refuse_transforms(found[:1])
    with pytest.raises(TransformNotCopied, match=r"shop\.orders"):
        refuse_transforms(found)


class Database:
    """A source that answers what the catalogue says."""

    settings = SourceServer(instance="one", host="h", user="u")

    def __init__(self, *, only_primary_keys: bool) -> None:
        self.only_primary_keys = only_primary_keys

    def rows(self, sql: str) -> list[Row]:
        if "SCHEMATA" in sql:
            return [Row(db="shop_1"), Row(db="shop_2")]
        if "STATISTICS" in sql:
            return KEYS
        return COLUMNS if "ORDINAL_POSITION" in sql else []


@pytest.mark.parametrize(
    ("only_primary_keys", "without_key"), [(False, []), (True, ["one/shop_1.orders_1"])]
)
def test_in_the_canal_style_a_table_without_a_primary_key_has_no_key(
    *, only_primary_keys: bool, without_key: list[str]
) -> None:
    """Its messages have none: a copy by its unique key would never get its changes."""
    database: Any = Database(only_primary_keys=only_primary_keys)
    _, orders = logical_tables(read_shards(database, MAPPING))
    assert orders.without_key == without_key

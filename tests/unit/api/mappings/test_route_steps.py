"""Partition rule and key of a route, in the words of the route finder."""

import pytest

from api.services.mappings.route_steps import key_of, partition_step
from relay.model.table import TableId
from relay.settings import InstanceSettings

NAME = TableId("shop", "client")


def instance(**more: object) -> InstanceSettings:
    source = {"host": "h", "user": "u"}
    return InstanceSettings.model_validate({"name": "a", "source": source, **more})


@pytest.mark.parametrize(
    ("partition", "rule", "columns", "said"),
    [
        ({}, r".*\..*:$pk$", None, "hashes the values of the primary key, else"),
        (
            {"partition_hash": r"crm\..*:$pk$,shop.client:city^zip", "database_hash": False},
            "shop.client:city^zip",
            ["city", "zip"],
            "hashes city, zip.",
        ),
        ({"partition_hash": "shop.client"}, "shop.client", None, "all its rows are in one"),
        ({"partition_hash": "crm.lead:$pk$"}, "", None, "all its rows are in partition 0"),
    ],
)
def test_the_rule_is_the_one_that_relays_use(
    partition: dict[str, object], rule: str, columns: list[str] | None, said: str
) -> None:
    step = partition_step(instance(partition=partition), NAME)
    assert (step.rule, step.columns) == (rule, columns)
    assert said in step.sentence


def test_the_key_has_the_real_table_where_shards_are_told_apart() -> None:
    real = TableId("shop_01", "user")
    assert key_of(instance(), real, NAME) == '["shop.client", …]'
    shards = instance(routing={"key_scope": "shard"})
    assert key_of(shards, real, NAME) == '["shop.client", "shop_01.user", …]'

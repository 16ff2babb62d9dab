"""Describes the message key of a table, and how an instance assigns its rows to partitions."""

from api.models.mappings.route import PartitionStepView
from relay.model.table import TableId
from relay.partition import HashedBy, PartitionRule
from relay.settings import InstanceSettings

_KEY_COLUMNS = "the primary key, else the first unique key whose columns are all NOT NULL"


def partition_step(instance: InstanceSettings, name: TableId) -> PartitionStepView:
    """Return the partition rule that applies to a table.

    `name` is the table's name in messages and rules: logical, or real with `names = "real"`.
    """
    settings = instance.partition
    rule = PartitionRule(
        settings.partition_hash,
        database_hash=settings.database_hash,
        partitions=settings.partitions_num or 1,
    ).hashed_by(name)
    return PartitionStepView(
        rule="" if rule is None else rule.rule,
        columns=list(rule.columns) if rule is not None and rule.columns is not None else None,
        partitions_num=settings.partitions_num,
        sentence=_sentence(rule, with_database=settings.database_hash),
    )


def key_of(instance: InstanceSettings, real: TableId, name: TableId) -> str:
    """Return the form of a table's message key: a JSON array with `…` in place of values.

    real  the table's name at the source
    name  the table's name in messages
    """
    shard = f', "{real}"' if instance.routing.key_scope == "shard" else ""
    return f'["{name}"{shard}, …]'


def _sentence(rule: HashedBy | None, *, with_database: bool) -> str:
    if rule is None:
        return "No partition rule matches the table: all its rows are in partition 0."
    if rule.by_table:
        return f"The rule {rule.rule} hashes the table's name: all its rows are in one partition."
    what = ", ".join(rule.columns) if rule.columns is not None else f"the values of {_KEY_COLUMNS}"
    also = ", with the database's name" if with_database else ""
    return f"The rule {rule.rule} hashes {what}{also}."

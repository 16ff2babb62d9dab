"""How the rows of one table are assigned to partitions: the hashed columns and their text form.

Which columns are the table's key is decided by `relay.schema.table_definitions`.
"""

from collections.abc import Set

from relay.encode import exact_text, hashed_form, whole_text
from relay.model.table import TableDefinition, TableId
from relay.partition import PartitionRule, TablePartitioning
from relay.refine import Refinements, TableRefinement
from relay.route import Router
from relay.settings import InstanceSettings
from relay.state import HashedKey


def partition_rule(instance: InstanceSettings, partitions: int) -> PartitionRule:
    """Return the rule that assigns an instance's rows to `partitions` partitions.

    Raises PartitionRuleRefused.
    """
    partitioning = instance.partition
    return PartitionRule(
        partitioning.partition_hash, database_hash=partitioning.database_hash, partitions=partitions
    )


def refinement_of(
    instance: InstanceSettings,
    refinements: Refinements,
    definition: TableDefinition,
    logical: TableId,
) -> TableRefinement | None:
    """Return the refinement (rules, masks, transform) of a table; None if its rows are published
    unchanged.

    instance     the settings of the instance
    refinements  makes the refinements of the instance's tables
    definition   the table at the source
    logical      its logical name

    Raises RuleRefused.
    """
    hashed_keys = exact_text if instance.message.key_values == "printed" else whole_text
    return refinements.of(definition, logical, exact_text, hashed_keys)


def table_partitioning(
    rule: PartitionRule, definition: TableDefinition, logical: TableId
) -> tuple[TablePartitioning, str]:
    """Return how the rows of a table are assigned to partitions, and the text form of the hashed
    columns ("": none is hashed).

    rule        the rule of the instance
    definition  the table as it is published
    logical     its logical name
    """
    names = tuple(column.name for column in definition.map.columns)
    partitioning = rule.for_table(logical, names, definition.key)
    return partitioning, hashed_form(definition, partitioning.ordinals, named=partitioning.named)


def some_go_to(router: Router, tables: Set[TableId], key: HashedKey) -> bool:
    """Return whether `router` sends rows of one of these real tables to the topic of `key`, under
    the logical table of `key`.

    If the key names its real table (`shard`), only that table counts.
    """
    wanted = tables if key.shard is None else tables & {key.shard}
    found = (router.destination(each) for each in wanted)
    return any(
        each is not None and each.logical == key.table and key.topic in each.topics
        for each in found
    )

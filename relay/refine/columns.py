"""Applies field lists: the columns of a table that are published, which always include the key."""

from collections.abc import Sequence

from relay.model.change import RowChange
from relay.model.table import TableDefinition
from relay.model.value import ABSENT, Row, same_value
from relay.settings import RowRuleSettings


def listed(definition: TableDefinition, rules: Sequence[RowRuleSettings]) -> tuple[int, ...] | None:
    """Return the ordinals of the columns that every one of these rules accepts, and of the key.

    None: all columns are accepted.
    """
    if not any(rule.fields or rule.without_fields for rule in rules):
        return None
    names = [column.name.lower() for column in definition.map.columns]
    versions = definition.versions
    # A consumer needs the end of a row's version to distinguish a history row from a current or a
    # deleted one.
    key = {
        *definition.key,
        *definition.map.primary_key,
        *(() if versions is None else (*versions.key, versions.end)),
    }
    return tuple(
        ordinal
        for ordinal, name in enumerate(names)
        if ordinal in key or all(lets_pass(rule, name) for rule in rules)
    )


def lets_pass(rule: RowRuleSettings, column: str) -> bool:
    """Return whether the field lists of a rule accept a column outside of the key."""
    name = column.lower()
    fields = {field.lower() for field in rule.fields}
    return (not fields or name in fields) and name not in {
        field.lower() for field in rule.without_fields
    }


def touches(change: RowChange, ordinals: Sequence[int]) -> bool:
    """Return whether a change changes one of these columns; an insert and a delete change all
    columns.
    """
    before, after = change.before, change.after
    if before is None or after is None:
        return True
    return any(
        after[ordinal] is not ABSENT and not same_value(before[ordinal], after[ordinal])
        for ordinal in ordinals
    )


def only(row: Row, ordinals: Sequence[int]) -> Row:
    """Return these columns of a row."""
    return tuple([row[ordinal] for ordinal in ordinals])

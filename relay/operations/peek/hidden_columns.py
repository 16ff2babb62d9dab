"""Hides masked columns of a logical table from readers, also in messages that were published before
the mask.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from relay.model.names.name_pattern import NamePattern
from relay.model.table import TableId
from relay.settings import InstanceSettings, RowRuleSettings


class HiddenColumns:
    """The present masks and rules of a logical table. They also apply to older messages.

    Without full headers, a message does not name its real table. So a mask or rule of one instance
    for one real table applies to the whole logical table.
    """

    def __init__(
        self, instances: Iterable[InstanceSettings], reals: Mapping[str, Collection[TableId]]
    ) -> None:
        """`reals` maps each instance to its real tables of the logical table.

        Raises ConfigurationError.
        """
        everywhere = sorted({str(each) for tables in reals.values() for each in tables})
        rules: list[RowRuleSettings] = []
        patterns: list[NamePattern] = []
        for instance in instances:
            patterns += [NamePattern(each.columns) for each in instance.masks]
            rules += _rules_for(instance.rules, everywhere)
        self._masked = _Masks(patterns, everywhere)
        self.is_empty = not patterns and not rules
        """No mask and no rule exists that could hide a column of any name."""
        self._omitted = {name.lower() for rule in rules for name in rule.without_fields}
        self._only = [{name.lower() for name in rule.fields} for rule in rules if rule.fields]

    def masks(self, column: str, real: str = "") -> bool:
        """Return whether the values of a column are hidden. `real` is the real table that the
        message names; "": the message names no real table.
        """
        return self._masked.of(column, real)

    def omits(self, column: str, key: Collection[str]) -> bool:
        """Return whether a column is not shown at all. Columns of the key are always shown."""
        name = column.lower()
        if column in key:
            return False
        return name in self._omitted or any(name not in only for only in self._only)


class _Masks:
    """The masks of all instances over the real tables of one logical table."""

    def __init__(self, patterns: Sequence[NamePattern], reals: Sequence[str]) -> None:
        self._patterns = patterns
        self._reals = reals
        self._answers: dict[str, bool] = {}

    def of(self, column: str, real: str) -> bool:
        found = self._answers.get(column)
        if found is None:
            found = self._answers[column] = any(self._matches(each, column) for each in self._reals)
        return found or bool(real and self._matches(real, column))

    def _matches(self, real: str, column: str) -> bool:
        return any(each.matches(f"{real}.{column}") for each in self._patterns)


def _rules_for(rules: Iterable[RowRuleSettings], reals: Sequence[str]) -> list[RowRuleSettings]:
    with_columns = [each for each in rules if each.fields or each.without_fields]
    return [each for each in with_columns if any(map(NamePattern(each.tables).matches, reals))]

"""Rows per second of logical tables, from the rates of real tables that instances report."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from api.services.mappings.effects.load import InstanceRates
from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.route import MappingSet
from relay.telemetry import OTHER

Rates: TypeAlias = Mapping[str, InstanceRates]
"""Instance → the rows per second that it publishes."""


@dataclass(frozen=True, slots=True)
class TableRates:
    """The rates of logical tables at one time.

    tables     logical table → instance → rows per second
    reporting  instances that report rates of single tables
    partial    the instances of `reporting` that also have tables without a separate rate
    """

    tables: Mapping[TableId, Mapping[str, float]] = field(default_factory=dict)
    reporting: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()

    def of(self, table: TableId, instances: Mapping[str, int]) -> tuple[float | None, bool]:
        """Return the rows per second of a logical table, and True if that is only a lower bound.

        table      the logical table
        instances  the instances that publish it are the keys; their rates are added

        The rate is a lower bound if one of the instances also has tables without a separate rate,
        or does not report rates by table. Returns (None, False) if none of the instances reports
        rates by table.
        """
        known = self.reporting.intersection(instances)
        if not known:
            return None, False
        found = self.tables.get(table, {})
        rate = sum(found.get(name, 0.0) for name in known)
        return rate, not known.isdisjoint(self.partial) or len(known) < len(instances)


class TableRatesReader:
    """Adds up the rates of real tables by logical table. Not thread-safe.

    The result is cached until the rates or the mapping set change. `rates` must return the same
    object until new rates are read.
    """

    def __init__(self, rates: Callable[[], Rates]) -> None:
        self._rates = rates
        self._names: tuple[MappingSet, dict[str, TableId | None]] | None = None
        self._kept: tuple[MappingSet, Rates, TableRates] | None = None

    def read(self, mapping: MappingSet) -> TableRates:
        """Return the present rates of the logical tables under a mapping set."""
        rates = self._rates()
        if self._kept is not None and self._kept[0] is mapping and self._kept[1] is rates:
            return self._kept[2]
        if self._names is None or self._names[0] is not mapping:
            self._names = mapping, {}
        found = added_up(rates, mapping, self._names[1])
        self._kept = mapping, rates, found
        return found


def added_up(rates: Rates, mapping: MappingSet, names: dict[str, TableId | None]) -> TableRates:
    """Return the rates by logical table under a mapping set.

    rates  instance → its rates by real table
    names  cache: real table → logical table, or None for a table that is not published
    """
    tables: dict[TableId, dict[str, float]] = defaultdict(dict)
    reporting, partial = set[str](), set[str]()
    for instance, each in rates.items():
        if each.tables is None:
            continue
        reporting.add(instance)
        for real, rate in each.tables.items():
            if real == OTHER.table:
                partial.update([instance] if rate > 0 else [])
                continue
            if real not in names:
                names[real] = _logical(mapping, real)
            name = names[real]
            if name is not None:
                tables[name][instance] = tables[name].get(instance, 0.0) + rate
    return TableRates(dict(tables), frozenset(reporting), frozenset(partial))


def _logical(mapping: MappingSet, text: str) -> TableId | None:
    database, _, table = text.partition(".")
    real = TableId(database, table)
    try:
        logical = mapping.logical_database(database)
        if logical is None:
            return None
        return TableId(logical, mapping.logical_table(real, logical) or table)
    except UnmappedName:
        return None

"""Computes how many rows per second an edit affects, from the rates in the statuses of the
instances.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from api.services.mappings.routing_views import ANY_OTHER_TABLE, RouteEffect
from relay.model.table import TableId
from relay.route import ChangeKind
from relay.telemetry import OTHER

_PUBLISHED_NOW: Final[frozenset[ChangeKind]] = frozenset(
    {"left_out", "stopped", "moved", "renamed", "retagged"}
)
"""Changes of tables that are published under the active set, so their rows are in the rates."""


class InstanceRates(NamedTuple):
    """Rows per second that one instance publishes.

    total   rate of all its tables together; None: unknown
    tables  real table → rate of the last minute; `(other)` is the rate of all tables without a
            separate rate; None: the instance does not report rates by table
    """

    total: float | None
    tables: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """The instances that have read tables of a change, and their rate for these tables.

    instances        names of the instances
    rows_per_second  rows of the changed tables that the instances publish; None: a rate is unknown
    is_bound         whether the rate also contains other tables of the instances, so that it is an
                     upper bound
    """

    instances: tuple[str, ...]
    rows_per_second: float | None
    is_bound: bool = True

    @property
    def sentence(self) -> str:
        """Return the rate as a sentence; empty if it is unknown."""
        if self.rows_per_second is None:
            return ""
        rate = _rate(self.rows_per_second)
        publish = "publishes" if len(self.instances) == 1 else "publish"
        names = " and ".join(self.instances)
        if self.is_bound:
            return f"At most {rate} rows/s: what {names} {publish} now, other tables included."
        return f"{rate} rows/s: what {names} {publish} of these tables."


def load_of(
    change: RouteEffect,
    met: Mapping[str, Sequence[TableId]],
    rates: Mapping[str, InstanceRates],
) -> Load | None:
    """Return the rows per second that a change affects.

    change  the effect of an edit
    met     instance → the real tables that it has read
    rates   instance → rows per second that it publishes now

    Returns None if no instance publishes the tables of the change now, because the rates then do
    not contain them. Returns None also if no instance has read these tables.
    """
    if change.kind not in _PUBLISHED_NOW:
        return None
    named = frozenset(change.tables)
    found = tuple(
        sorted(
            name
            for name, tables in met.items()
            if name in change.instances and any(_is_among(each, named) for each in tables)
        )
    )
    if not found:
        return None
    each = [_rate_of(named, met[name], rates.get(name, InstanceRates(None))) for name in found]
    known = [rate for rate, _ in each if rate is not None]
    is_bound = any(bound for _, bound in each)
    return Load(found, sum(known) if len(known) == len(found) else None, is_bound)


def _rate_of(
    named: frozenset[str], met: Sequence[TableId], rates: InstanceRates
) -> tuple[float | None, bool]:
    """Return the rate of an instance's tables of a change, and whether others may be in it."""
    if rates.total is None or rates.tables is None:
        return rates.total, True
    concerned = [str(each) for each in met if _is_among(each, named)]
    known = sum(rates.tables.get(each, 0.0) for each in concerned)
    others = rates.tables.get(OTHER.table, 0.0)
    is_bound = others > 0 and any(each not in rates.tables for each in concerned)
    return known + (others if is_bound else 0.0), is_bound


def _rate(rows_per_second: float) -> str:
    return f"{rows_per_second:,.0f}" if rows_per_second >= 10 else f"{rows_per_second:.1f}"


def _is_among(table: TableId, named: frozenset[str]) -> bool:
    return str(table) in named or f"{table.database}.{ANY_OTHER_TABLE}" in named

"""Computes the data of the mapping pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.models.mappings.logical_mapping import LogicalGroupView, LogicalTableView, LogicalView
from api.services.mappings.logical_view import LogicalPage
from api.web.views.logical_flow import Flow, flow_of
from api.web.words import counted
from relay.route import DATA_IDS

TABS: Final = (
    ("logical", "/mappings", "Logical view"),
    ("edit", "/mappings/edit", "Documents"),
    ("history", "/mappings/history", "History"),
    ("unmapped", "/mappings/unmapped", "Unmapped tables"),
)
SHORT_NAMES: Final = {data_id.rpartition(".")[2]: data_id for data_id in DATA_IDS}
"""Short name of a document (dbs, tbs, topics, tags) → dataId."""


@dataclass(frozen=True, slots=True)
class TableGroup:
    """One panel of the logical view.

    group     the group
    sentence  text below the title
    flow      picture of the group; None unless the group is a logical database
    named     tables that a rule names
    others    tables that no rule names, so that they have their real tables' name
    """

    group: LogicalGroupView
    sentence: str
    flow: Flow | None
    named: Sequence[LogicalTableView]
    others: Sequence[LogicalTableView]


def table_groups(view: LogicalView) -> list[TableGroup]:
    """Return one panel for each group of the logical view."""
    return [_panel(view, each) for each in view.groups]


def summary(page: LogicalPage) -> str:
    """Return a text with the numbers of logical databases, logical tables and real tables."""
    return (
        f"{counted(page.databases, 'logical database')}, {counted(page.tables, 'logical table')}, "
        f"{counted(page.real_tables, 'real table')} seen"
    )


def _panel(view: LogicalView, group: LogicalGroupView) -> TableGroup:
    sentence = (
        f"{counted(len(group.shards), 'shard rule')}, {counted(len(group.instances), 'instance')}"
    )
    return TableGroup(
        group,
        sentence,
        flow_of(group) if view.by == "db" else None,
        [each for each in group.tables if each.rules],
        [each for each in group.tables if not each.rules],
    )

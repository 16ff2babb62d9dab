"""The view data of the mapping pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.models.mappings.logical_mapping import LogicalGroupView, LogicalTableView, LogicalView
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
"""dbs, tbs, topics, tags → dataId."""


@dataclass(frozen=True, slots=True)
class TableGroup:
    """One panel: a group with its picture (only of a logical database) and its tables.

    others  tables that no rule names, which keep their real tables' name
    """

    group: LogicalGroupView
    sentence: str
    flow: Flow | None
    named: Sequence[LogicalTableView]
    others: Sequence[LogicalTableView]


def table_groups(view: LogicalView, text: str = "") -> list[TableGroup]:
    """Return the panels whose names contain the text; all of them without a text."""
    return [_panel(view, each) for each in view.groups if _contains(each, text.strip().lower())]


def summary(view: LogicalView) -> str:
    """Return the totals in one sentence."""
    tables = {
        (each.logical_database, each.logical_table): each.real_tables
        for group in view.groups
        for each in group.tables
    }
    databases = {database for database, _ in tables} | {
        shard.logical_database for group in view.groups for shard in group.shards
    }
    return (
        f"{counted(len(databases), 'logical database')}, {counted(len(tables), 'logical table')}, "
        f"{counted(sum(tables.values()), 'real table')} seen"
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


def _contains(group: LogicalGroupView, text: str) -> bool:
    names = [group.name, *group.topics, *group.instances]
    names += [name for each in group.shards for name in (each.rule, *each.databases)]
    for each in group.tables:
        names += [
            each.logical_table,
            *each.rules,
            *each.tags,
            *(tag.tag for tag in each.field_tags),
        ]
    return any(text in name.lower() for name in names)

"""Plans and printers of tables that no server described: their first column is the key."""

from relay.encode import (
    CanalJson,
    KeyEncoder,
    MessageFormat,
    PartitionTexts,
    RowHistory,
    as_history,
    tag_headers,
)
from relay.model.table import TableDefinition, TableId, TableMap
from relay.partition import PartitionRule, TablePartitioning
from relay.pipeline.messages.choice_of_format import names_coordinates
from relay.pipeline.messages.printing.event_printer import EventPrinter, make_event_printer
from relay.pipeline.messages.row_form import RowForm, TopicRoute
from relay.pipeline.messages.table_plan import TablePlan
from relay.route import Destination
from relay.route.mapping import Tags
from relay.schema.type_text import type_text

TOPIC = "t"
LIMIT_BYTES = 1_000_000
EXACT = CanalJson("exact")


def table_definition(table: TableMap) -> TableDefinition:
    """Return a table as its own map describes it."""
    return TableDefinition(table, (0,), tuple(map(type_text, table.columns)))


def table_plan(
    definition: TableDefinition,
    logical: TableId,
    tag: str,
    partitions: int,
    form: MessageFormat = EXACT,
) -> TablePlan:
    """Return the plan by which all rows go to one topic under one tag, in the exact style and
    placed by their key.
    """
    names = tuple(column.name for column in definition.map.columns)
    partitioning = PartitionRule("", database_hash=True, partitions=partitions).for_table(
        logical, names, definition.key
    )
    return TablePlan(
        definition=definition,
        destination=Destination(logical, (TOPIC,), Tags((tag,), ())),
        forms=(_form(definition, logical, partitioning, form),),
        keys=KeyEncoder(definition, logical),
        tags=tag_headers((tag,)),
        split_key_change=True,
        history=_history(definition, logical),
    )


def _form(
    definition: TableDefinition,
    logical: TableId,
    partitioning: TablePartitioning,
    form: MessageFormat,
) -> RowForm:
    texts = PartitionTexts(definition, partitioning.ordinals)
    return RowForm(
        (TopicRoute(TOPIC, partitioning, texts, LIMIT_BYTES),),
        form.rows(definition, logical, (TOPIC,)),
        None
        if definition.versions is None
        else form.rows(as_history(definition), logical, (TOPIC,)),
        form.headers,
        names_coordinates(form),
    )


def _history(definition: TableDefinition, logical: TableId) -> RowHistory | None:
    if definition.versions is None:
        return None
    past = as_history(definition)
    return RowHistory(past, definition.versions.end, KeyEncoder(past, logical))


def plan_printer(plan: TablePlan, largest_packed_bytes: int | None = None) -> EventPrinter:
    """Return the compiled printer of a plan's rows: one message a row, or packed by event into
    messages of at most so many bytes.
    """
    name = str(plan.destination.logical)
    printer = make_event_printer(
        plan.definition, (name,), plan.routes[0].partitioning, plan.rows, largest_packed_bytes
    )
    assert isinstance(printer, EventPrinter), (
        f"only the readable packages print this table: {printer}"
    )
    return printer

"""Generated columns of relayed tables that the source omits from its binlog."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

from relay.errors import RelayError
from relay.model.names.first_names import first_names
from relay.model.names.name_pattern import NamePattern
from relay.model.table import TableId
from relay.pipeline.supervision.unlogged_cascades import is_relayed
from relay.preflight.finding import Finding, Verdict, not_checked, passed
from relay.refine.columns import lets_pass
from relay.route import MappingSet, Router
from relay.schema import CatalogReader
from relay.settings import InstanceSettings

_CHECK: Final = "generated columns"
_REMEDY: Final = (
    "Leave these columns out of the messages by without_fields in a rule, or set "
    "row_image='partial' for consumers that merge partial rows."
)


def check_generated_columns(instance: InstanceSettings, mapping: MappingSet | None) -> Finding:
    """Return the result of a check for generated columns that the source does not log.

    `mapping` None: it is unknown, so every table that the filter accepts is checked.
    """
    if instance.message.row_image == "partial":
        return passed(
            _CHECK, "Rows that lack columns are published as partial rows.", instance.name
        )
    try:
        router = None if mapping is None else Router(mapping, instance.routing)
        with closing(CatalogReader(instance.source)) as catalog:
            unlogged = catalog.unlogged_generated_columns()
        names = stopping_columns(instance, unlogged, is_relayed(instance, router))
    except RelayError as exc:
        because = f"the source's generated columns are not known: {exc.code}"
        return not_checked(_CHECK, because, instance.name)
    if not names:
        seen = "The binlog has every generated column that is published and the account may see."
        return passed(_CHECK, seen, instance.name)
    sentence = (
        "The binlog of this server lacks generated columns in updates and deletes: "
        f"{first_names(names)}. The instance stops at such a row with "
        "ROW_IMAGE_INCOMPLETE."
    )
    return Finding(_CHECK, Verdict.WARNING, sentence, _REMEDY, instance=instance.name)


def stopping_columns(
    instance: InstanceSettings,
    columns: Sequence[tuple[TableId, str]],
    relayed: Callable[[TableId], bool],
) -> list[str]:
    """Return those of the columns that the instance publishes, as `database.table.column`. The
    instance stops at a row that lacks one of them.

    Raises ConfigurationError for a rule that cannot be read.
    """
    rules = [(NamePattern(rule.tables), rule) for rule in instance.rules]
    return [
        f"{table}.{column}"
        for table, column in columns
        if relayed(table)
        and all(lets_pass(rule, column) for tables, rule in rules if tables.matches(str(table)))
    ]

"""Checks rules and masks against the source's columns. A rule or mask that matches no column
probably has a typing error. A mask with a typing error hides no values.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from relay.errors import RelayError
from relay.model.names.name_pattern import NamePattern
from relay.model.table import TableId
from relay.preflight.finding import Finding, Verdict, not_checked, passed
from relay.schema import CatalogReader
from relay.settings import InstanceSettings

_CHECK = "rules of rows"
_REMEDY = "Correct the names; a table that will be created later is not an error."


def check_rows(instance: InstanceSettings) -> list[Finding]:
    """Return a warning for each name in rules and masks that no table of the source has.

    The source is queried only if the instance has rules or masks.
    """
    if not instance.rules and not instance.masks:
        return []
    try:
        with closing(CatalogReader(instance.source)) as catalog:
            columns = catalog.every_column()
        unmet = list(unmet_names(instance, columns))
    except RelayError as exc:
        return [
            not_checked(_CHECK, f"the source's columns are not known: {exc.code}", instance.name)
        ]
    if not unmet:
        return [passed(_CHECK, "Every rule and mask matches an existing table.", instance.name)]
    return [
        Finding(_CHECK, Verdict.WARNING, sentence, _REMEDY, instance=instance.name)
        for sentence in unmet
    ]


def unmet_names(
    instance: InstanceSettings, columns: Sequence[tuple[TableId, str]]
) -> Iterator[str]:
    """Yield a sentence for each name in rules and masks that no table has.

    Raises ConfigurationError.
    """
    for mask in instance.masks:
        if not _matched(mask.columns, (f"{table}.{column}" for table, column in columns)):
            yield f"The mask on {mask.columns} matches no column of the source."
    for rule in instance.rules:
        tables = NamePattern(rule.tables)
        met = {column.lower() for table, column in columns if tables.matches(str(table))}
        if not met:
            yield f"The rule for {rule.tables} matches no table of the source."
            continue
        for field in (*rule.fields, *rule.without_fields):
            if field.lower() not in met:
                yield (
                    f"The rule for {rule.tables} names the field {field}, which no table of them "
                    f"has."
                )


def _matched(pattern: str, names: Iterable[str]) -> bool:
    return any(map(NamePattern(pattern).matches, names))

"""Finds relayed tables whose rows foreign keys change without events in the binlog."""

from contextlib import closing

from relay.errors import RelayError
from relay.pipeline.supervision.unlogged_cascades import REMEDY, cascades_in_words, is_relayed
from relay.preflight.finding import Finding, Verdict, not_checked, passed
from relay.route import MappingSet, Router
from relay.schema import CatalogReader
from relay.settings import InstanceSettings

_CHECK = "cascades"


def check_cascades(instance: InstanceSettings, mapping: MappingSet | None) -> Finding:
    """Return the result of a check of the source's foreign keys.

    `mapping` None: it is unknown, so every table that the filter accepts is checked.
    """
    try:
        relayed = is_relayed(
            instance, None if mapping is None else Router(mapping, instance.routing)
        )
        with closing(CatalogReader(instance.source)) as catalog:
            words = cascades_in_words(catalog.unlogged_cascades(relayed))
    except RelayError as exc:
        return not_checked(
            _CHECK, f"the source's foreign keys are not known: {exc.code}", instance.name
        )
    if words:
        return Finding(_CHECK, Verdict.WARNING, words, REMEDY, instance=instance.name)
    return passed(
        _CHECK,
        "No foreign key that the account may see changes relayed rows without a binlog event.",
        instance.name,
    )

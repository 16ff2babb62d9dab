"""Digests of the settings that decide which messages a transaction becomes. A half-published
transaction continues only if its digest is unchanged.
"""

import hashlib
from collections.abc import Mapping, Set
from typing import Final

from relay.refine import configuration_of_rows
from relay.settings import InstanceSettings

_SINCE_THE_FIRST: Final = {"key_values"}
"""Settings of messages that came after the first landed version, whose digests are without them."""
_LEFT_OUT_AS_USUAL: Final[Mapping[str, object]] = {
    "system_versions": "marked",
    "format": "canal-json",
    "schemas": False,
}
"""Settings added later, with their defaults: a digest includes them only if they differ."""


def configuration_digest(instance: InstanceSettings) -> str:
    """Return a digest of all settings that decide which messages a source transaction becomes."""
    return _digest(instance, set())


def known_digests(instance: InstanceSettings) -> frozenset[str]:
    """Return `configuration_digest`, and the digests that former versions of the relay computed
    from the same settings.

    So a transaction that a former version published in part continues after an upgrade.
    """
    former = _digest(instance, _SINCE_THE_FIRST)
    return frozenset((configuration_digest(instance), former))


def _digest(instance: InstanceSettings, without: Set[str]) -> str:
    usual = {
        name
        for name, default in _LEFT_OUT_AS_USUAL.items()
        if getattr(instance.message, name) == default
    }
    texts = [
        part.model_dump_json() for part in (instance.filter, instance.routing, instance.partition)
    ]
    texts.append(instance.message.model_dump_json(exclude={*without, *usual}))
    if rows := configuration_of_rows(instance):
        texts.append(rows)
    if len(instance.formats) > 1:  # since ADR 80
        rules = [(each.topics, each.format) for each in instance.topic.rules]
        texts.append(repr(rules))
    if instance.transaction_topic is not None:  # since ADR 72
        texts.append(instance.transaction_topic)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]

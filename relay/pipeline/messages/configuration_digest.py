"""Whether a half-published transaction would become the same messages under the settings of now."""

import hashlib
from collections.abc import Mapping, Set
from typing import Final

from relay.refine import configuration_of_rows
from relay.settings import InstanceSettings

_SINCE_THE_FIRST: Final = {"key_values"}
"""Settings of messages that came after the first landed version, whose digests are without them."""
_LEFT_OUT_AS_USUAL: Final[Mapping[str, object]] = {"system_versions": "marked"}
"""Settings that came later still, with their defaults: a digest tells them only where they are
others.
"""


def configuration_digest(instance: InstanceSettings) -> str:
    """Return a digest of everything that decides which messages a source transaction becomes."""
    return _digest(instance, set())


def known_digests(instance: InstanceSettings) -> frozenset[str]:
    """Return the digest, and what a former version wrote for the same settings: an upgrade ends its
    half-published transactions.
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
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]

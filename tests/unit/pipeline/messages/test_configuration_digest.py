"""Which settings a half-published transaction may be ended under."""

import hashlib

from relay.pipeline.messages.configuration_digest import configuration_digest, known_digests
from relay.settings import InstanceSettings


def instance(**message: object) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {"name": "x", "source": {"host": "h", "user": "u", "server_id": 7}, "message": message}
    )


def former_digest(settings: InstanceSettings, *unknown: str) -> str:
    """What a version wrote whose messages had no such settings."""
    texts = [
        each.model_dump_json() for each in (settings.filter, settings.routing, settings.partition)
    ]
    texts.append(settings.message.model_dump_json(exclude=set(unknown)))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def test_what_a_former_version_began_is_ended() -> None:
    assert former_digest(instance(), "key_values", "system_versions") in known_digests(instance())
    assert former_digest(instance(), "system_versions") == configuration_digest(instance())


def test_another_setting_is_another_digest() -> None:
    own = configuration_digest(instance())
    for other in (
        instance(key_values="printed"),
        instance(tombstones=True),
        instance(system_versions="rows"),
    ):
        assert own not in known_digests(other)

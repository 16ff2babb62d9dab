"""Which settings a half-published transaction may be ended under."""

import hashlib

from relay.pipeline.messages.configuration_digest import configuration_digest, known_digests
from relay.settings import InstanceSettings

LATER = ("system_versions", "format", "schemas")


def instance(*rules: dict[str, str], **message: object) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {
            "name": "x",
            "source": {"host": "h", "user": "u", "server_id": 7},
            "message": message,
            "topic": {"rules": rules},
        }
    )


def former_digest(settings: InstanceSettings, *unknown: str) -> str:
    """What a version wrote whose messages had no such settings."""
    texts = [
        each.model_dump_json() for each in (settings.filter, settings.routing, settings.partition)
    ]
    texts.append(settings.message.model_dump_json(exclude=set(unknown)))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def test_what_a_former_version_began_is_ended() -> None:
    assert former_digest(instance(), "key_values", *LATER) in known_digests(instance())
    assert former_digest(instance(), *LATER) == configuration_digest(instance())


def test_another_setting_is_another_digest() -> None:
    own = configuration_digest(instance())
    for other in (
        instance(key_values="printed"),
        instance(tombstones=True),
        instance(system_versions="rows"),
        instance(format="debezium-json"),
        instance({"topics": "t", "format": "debezium-json"}),
    ):
        assert own not in known_digests(other)


def test_rules_of_topics_count_where_they_decide_about_formats() -> None:
    own = configuration_digest(instance())
    assert configuration_digest(instance({"topics": "t", "retention": "72h"})) == own
    assert configuration_digest(instance({"topics": "t", "format": "canal-json"})) == own
    first, second = ({"topics": each, "format": "debezium-json"} for each in ("t", "s"))
    assert configuration_digest(instance(first)) != configuration_digest(instance(second))

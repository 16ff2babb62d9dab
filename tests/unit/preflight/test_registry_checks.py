"""What preflight says of a schema registry."""

from typing import Any

import pytest

from relay.errors import RegistryRefused
from relay.preflight import Finding, Verdict
from relay.preflight.registry_checks import check_registry, registry_findings
from relay.route import MappingSet
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents

SOURCE = {"host": "localhost", "user": "relay", "server_id": 9001}
URL = "http://127.0.0.1:1"


class Registry:
    """A registry with these subjects, by name with the kind of their schemas."""

    def __init__(self, *, read_only: bool = False, **kinds: str) -> None:
        self._kinds = {name.replace("__", "-"): kind for name, kind in kinds.items()}
        self._read_only = read_only

    def subjects(self) -> list[str]:
        return [f"{name}.Envelope" for name in self._kinds]

    def kind_of(self, subject: str) -> str | None:
        return self._kinds.get(subject.removesuffix(".Envelope"))

    def is_read_only(self) -> bool:
        return self._read_only


def instance(form: str = "avro", **registry: Any) -> InstanceSettings:
    settings = {
        "name": "shop",
        "source": SOURCE,
        "message": {"format": form},
        "registry": {"url": URL, **registry},
        "routing": {"unmapped_db": "default_topic", "default_topic": "rows"},
    }
    return InstanceSettings.model_validate(settings)


def findings(registry: Registry, settings: InstanceSettings) -> list[Finding]:
    name = settings.message.format
    return [*registry_findings(registry, name, settings, MappingSet.empty())]


def test_subjects_of_other_topics_are_not_looked_at() -> None:
    (found,) = findings(Registry(rows__a="AVRO", others__a="JSON"), instance())
    assert found.verdict is Verdict.PASSED
    assert "1 subjects" in found.sentence


def test_a_subject_with_another_kind_of_schemas_is_named() -> None:
    (found,) = findings(Registry(rows__a="AVRO"), instance("protobuf"))
    assert (found.verdict, found.code, found.instance) == (
        Verdict.FAILED,
        "SCHEMA_REFUSED",
        "shop",
    )
    assert "The subject rows-a.Envelope" in found.sentence
    assert "new topic" in found.remedy


def test_a_subject_of_a_longer_topic_that_is_not_known_is_not_looked_at() -> None:
    """Topic `rows-lake` of another instance begins as topic `rows` and a record would."""
    (found,) = findings(Registry(rows__a="AVRO", rows__lake__a="JSON"), instance())
    assert (found.verdict, "1 subjects" in found.sentence) == (Verdict.PASSED, True)


def test_a_subject_belongs_to_the_longest_topic_that_it_begins_with() -> None:
    settings = instance("json-schema").model_dump()
    settings["topic"]["rules"] = [{"topics": "rows-lake", "format": "avro"}]
    checked = InstanceSettings.model_validate(settings)
    mapping = MappingSet.compile(
        1,
        documents(
            dbs=[{"logicDb": "shop", "realDbs": "shop"}],
            topics=[{"logicDb": "shop", "topic": "rows,rows-lake"}],
        ),
    )
    registry = Registry(rows__a="JSON", rows__lake__a="AVRO")
    for name in checked.formats:
        (found,) = registry_findings(registry, name, checked, mapping)
        assert (found.verdict, "1 subjects" in found.sentence) == (Verdict.PASSED, True)


def test_the_subject_of_a_topic_is_asked_for_even_if_the_list_leaves_it_out() -> None:
    class Cut(Registry):
        def subjects(self) -> list[str]:
            return [f"other-{number}.Envelope" for number in range(1_000)]

    registry = Cut(rows__value="AVRO")
    (found,) = findings(registry, instance("protobuf", subject="topic_name"))
    assert (found.verdict, found.code) == (Verdict.FAILED, "SCHEMA_REFUSED")
    (found,) = findings(registry, instance("protobuf"))
    assert found.verdict is Verdict.NOT_CHECKED
    assert "lists 1000 subjects, perhaps not all" in found.sentence
    (found,) = findings(Cut(), instance("protobuf", subject="topic_name"))
    assert found.verdict is Verdict.PASSED


def test_a_read_only_registry_fails_where_schemas_are_registered() -> None:
    registry = Registry(read_only=True)
    (found,) = findings(registry, instance())
    assert (found.verdict, found.code) == (Verdict.FAILED, "SCHEMA_REFUSED")
    (found,) = findings(registry, instance(auto_register=False))
    assert found.verdict is Verdict.PASSED


def test_a_format_without_a_registry_is_not_asked() -> None:
    assert check_registry(instance("debezium-json"), MappingSet.empty()) == []


def test_a_registry_that_does_not_answer_is_named() -> None:
    (found,) = check_registry(instance(), MappingSet.empty())
    assert (found.verdict, found.code) == (Verdict.FAILED, "REGISTRY_UNREACHABLE")
    assert URL in found.sentence


def test_a_refused_login_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Registry) -> list[str]:
        raise RegistryRefused("401")

    monkeypatch.setattr(Registry, "subjects", refuse)
    monkeypatch.setattr(
        "relay.preflight.registry_checks.schema_registry", lambda _name, _instance: Registry()
    )
    (found,) = check_registry(instance(), MappingSet.empty())
    assert (found.verdict, found.code) == (Verdict.FAILED, "REGISTRY_REFUSED")

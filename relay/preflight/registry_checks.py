"""Checks the schema registry: it answers, the relay may use it, and its subjects have schemas of
the kind that the format writes.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final, Protocol

from relay.errors import RelayError, SchemaRefused
from relay.pipeline.messages.choice_of_format import SCHEMA_KINDS, schema_registry
from relay.preflight.finding import Finding, found, not_checked, passed
from relay.route import MappingSet, Router, known_topics
from relay.settings import FormatName, InstanceSettings

_CHECK: Final = "registry"
_LISTED_AT_MOST: Final = 1_000
"""Largest number of subjects that a list may have. Apicurio's Confluent-compatible interface lists
no more (2.6.13).
"""


class RegistryView(Protocol):
    """The requests that preflight sends to a registry."""

    def subjects(self) -> list[str]:
        """Return the names of all subjects."""

    def kind_of(self, subject: str) -> str | None:
        """Return the kind of a subject's newest schema; None if the subject does not exist."""

    def is_read_only(self) -> bool:
        """Return whether the registry takes no new schemas."""


def has_registry(instance: InstanceSettings) -> bool:
    """Return whether a format of the instance uses a registry."""
    return any(name in SCHEMA_KINDS for name in instance.formats)


def check_registry(instance: InstanceSettings, mapping: MappingSet | None) -> list[Finding]:
    """Check the registry for each format of an instance that uses one; nothing is registered."""
    findings: list[Finding] = []
    for name in instance.formats:
        if name in SCHEMA_KINDS:
            try:
                registry = schema_registry(name, instance)
                findings += registry_findings(registry, name, instance, mapping)
            except RelayError as exc:
                findings.append(found(_CHECK, exc, instance.name))
    return findings


def registry_findings(
    registry: RegistryView,
    name: FormatName,
    instance: InstanceSettings,
    mapping: MappingSet | None,
) -> Iterator[Finding]:
    """Yield the findings about the registry and the subjects of known topics with this format.

    Raises the registry's errors.
    """
    listed = registry.subjects()
    url = instance.registry.url
    if instance.registry.auto_register and registry.is_read_only():
        error = SchemaRefused(
            f"The schema registry {url} is read-only, and registry.auto_register is on.",
            remedy="Let the registry accept new schemas, or set registry.auto_register = false.",
        )
        yield found(_CHECK, error, instance.name)
        return
    if mapping is None:
        yield not_checked(_CHECK, "the mapping is not known", instance.name)
        return
    topics = known_topics(Router(mapping, instance.routing))
    own = [topic for topic in topics if instance.format_of(topic) == name]
    subjects = _own_subjects(listed, name, instance, own, topics)
    yield from _subject_findings(registry, listed, name, instance, subjects)


def _subject_findings(
    registry: RegistryView,
    listed: list[str],
    name: FormatName,
    instance: InstanceSettings,
    subjects: Collection[str],
) -> Iterator[Finding]:
    """Yield findings about these subjects with schemas of another kind, or without a schema."""
    url, kind = instance.registry.url, SCHEMA_KINDS[name]
    own = _kinds(registry, subjects)
    wrong = {each: other for each, other in own.items() if other != kind}
    for subject, other in wrong.items():
        error = SchemaRefused(
            f"The subject {subject} at {url} has schemas of the kind {other}, and "
            f"the format '{name}' writes {kind}.",
            remedy="Give the instance a new topic, or delete the subject in the registry.",
        )
        yield found(_CHECK, error, instance.name)
    if not wrong and _may_be_cut(listed, instance):
        yield not_checked(
            _CHECK, f"the registry lists {len(listed)} subjects, perhaps not all", instance.name
        )
    elif not wrong:
        yield passed(
            _CHECK,
            f"The schema registry answers at {url}; {len(own)} subjects of known topics have "
            f"schemas of the kind {kind}.",
            instance.name,
        )


def _kinds(registry: RegistryView, subjects: Collection[str]) -> Mapping[str, str]:
    """Return the kinds of the existing ones of these subjects."""
    asked = {each: registry.kind_of(each) for each in subjects}
    return {each: kind for each, kind in asked.items() if kind is not None}


def _own_subjects(
    listed: Collection[str],
    name: FormatName,
    instance: InstanceSettings,
    topics: Collection[str],
    known: Collection[str],
) -> list[str]:
    """Return the subjects of these topics with the format `name`; those of records alone have no
    topic. `known` are the topics of all formats.
    """
    match instance.registry.subject:
        case "topic_record_name":
            return [
                subject
                for subject in listed
                if subject.endswith((".Envelope", ".Statement"))
                and _topic_of(subject, name, known) in topics
            ]
        case "topic_name":
            return [f"{each}-value" for each in sorted(topics)]
        case "record_name":
            return []


def _topic_of(subject: str, name: FormatName, known: Collection[str]) -> str | None:
    """Return the topic in a subject of topic and record, None if it is not known.

    A topic may begin with the name of another one and a hyphen. Records of Avro and Protobuf have
    no hyphen in their names; in JSON Schema the longest topic is assumed.
    """
    found = max((each for each in known if subject.startswith(f"{each}-")), key=len, default=None)
    if found is None or (name != "json-schema" and "-" in subject[len(found) + 1 :]):
        return None
    return found


def _may_be_cut(listed: Collection[str], instance: InstanceSettings) -> bool:
    """Return whether subjects that the check needs may be missing in the registry's list."""
    needed = instance.registry.subject == "topic_record_name"
    return needed and len(listed) == _LISTED_AT_MOST

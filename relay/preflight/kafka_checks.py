"""Checks Kafka: the brokers answer, they allow the transactions, and the topics have the wanted
settings.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from relay.errors import (
    FormatChanged,
    FormatsDiffer,
    KafkaNotPermitted,
    PartitionsChanged,
    PartitionsDiffer,
    RelayError,
)
from relay.kafka import TopicAdmin, TopicFinding, row_topic_findings, transaction_timeout_error
from relay.model.names.own_topics import is_own_topic, own_records_mixed, reports_mixed
from relay.model.records.position_record import PositionRecord
from relay.model.records.topic_partitioning import TopicAgreement, TopicPartitioning
from relay.pipeline.delivery.saved_position import (
    PublishedPartitioning,
    format_changed,
    mapping_lost,
    noted_partitioning_changed,
    partitioning_changed,
    position_lost,
)
from relay.pipeline.delivery.topic_feeders import formats_differ, partitions_differ
from relay.pipeline.delivery.topics import ddl_topic, new_topic, wanted_topic
from relay.position import KafkaPositionStore
from relay.preflight.finding import Finding, found, not_checked, passed
from relay.preflight.store_checks import StoreView
from relay.route import MappingSet, Router, known_topics
from relay.settings import InstanceSettings, KafkaSettings, RelaySettings

_SILENT: Final = "Kafka does not answer"
_POSITION: Final = "position"
_NO_NOTE: Final = "ZooKeeper does not show whether the instance has published before"


@dataclass(slots=True)
class KafkaView:
    """The state of Kafka.

    `records` maps each instance to its position record, None if it has none. Instances whose
    position could not be read are missing.
    """

    records: dict[str, PositionRecord | None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def check_kafka(settings: RelaySettings, store: StoreView) -> KafkaView:
    """Check everything that can be checked without a write.

    It begins no transaction: with the relay's own transactional.id that would fence a running
    relay, and a test with another id proves little.
    """
    kafka = _quiet(settings.kafka)
    admin, view = TopicAdmin(kafka), KafkaView()
    try:
        count = admin.broker_count()
    except RelayError as exc:
        view.findings += [
            found("kafka", exc),
            *(not_checked(check, _SILENT) for check in ("transactions", "position", "topics")),
        ]
        return view
    view.findings.append(passed("kafka", f"{count} brokers answer at {kafka.bootstrap_servers}."))
    for instance in settings.instances:
        view.findings.append(_transactions(instance, admin))
        view.findings += _position(kafka, settings.installation, instance, admin, store, view)
        record = view.records.get(instance.name)
        view.findings += _reports_apart(instance, settings, store)
        view.findings += _topics(kafka, instance, admin, store, record)
    return view


def row_topics(
    instance: InstanceSettings, mapping: MappingSet, record: PositionRecord | None
) -> dict[str, int | None]:
    """Return the topics of rows, statements and reports to which an instance will certainly publish
    under this mapping, each with its number of used partitions; None: all existing partitions.
    """
    kept = {} if record is None else record.partitions
    names = known_topics(Router(mapping, instance.routing))
    topics: dict[str, int | None] = {
        name: instance.partitions_of(name) or kept.get(name) for name in names
    }
    statements = (ddl_topic(name, instance) for name in names)
    return topics | dict.fromkeys((*filter(None, statements), *sorted(instance.report_topics)), 1)


def _transactions(instance: InstanceSettings, admin: TopicAdmin) -> Finding:
    if instance.transaction.delivery == "at_least_once":
        return passed("transactions", "No transactions are used (at_least_once).", instance.name)
    timeout_ms = instance.transaction.timeout_ms
    try:
        error = transaction_timeout_error(timeout_ms, admin.broker_settings())
    except KafkaNotPermitted as exc:  # the relay runs without this right
        return not_checked(
            "transactions",
            "the brokers do not return their settings",
            instance.name,
            remedy=exc.way_out,
        )
    except RelayError as exc:
        return found("transactions", exc, instance.name)
    if error is not None:
        return found("transactions", error, instance.name)
    return passed(
        "transactions", f"The brokers allow transactions of {timeout_ms} ms.", instance.name
    )


def _position(
    kafka: KafkaSettings,
    installation: str,
    instance: InstanceSettings,
    admin: TopicAdmin,
    store: StoreView,
    view: KafkaView,
) -> Iterator[Finding]:
    positions = KafkaPositionStore(kafka, installation, instance.name)
    name = instance.name
    try:
        state = admin.state(positions.topic)
        if state is None:
            admin.create(positions.spec(), only_ask=True)
            yield passed(
                "position topic", f"{positions.topic} does not exist yet and will be created.", name
            )
        else:
            findings = positions.findings(state)
            yield from _of_topic("position topic", positions.topic, findings, name)
            if any(isinstance(each.error, KafkaNotPermitted) for each in findings):
                yield not_checked(_POSITION, "the position topic may not be used", name)
                return
        record = positions.read() if state is not None else None
    except RelayError as exc:
        yield found("position topic", exc, name)
        return
    yield _record(instance, positions.topic, record, store, view)
    yield from _mapping(instance, record, store)


def _mapping(
    instance: InstanceSettings, record: PositionRecord | None, store: StoreView
) -> Iterator[Finding]:
    """Yield whether ZooKeeper continues the mapping sets that the instance has published under."""
    if record is None or store.active is None:
        return
    if lost := mapping_lost(record.mapping, store.active, store.sets.get(record.mapping.number)):
        yield found("mapping", lost, instance.name)


def _record(
    instance: InstanceSettings,
    topic: str,
    record: PositionRecord | None,
    store: StoreView,
    view: KafkaView,
) -> Finding:
    name = instance.name
    if record is None and name not in store.notes:
        return not_checked(_POSITION, _NO_NOTE, name)
    if lost := position_lost(name, topic, store.notes.get(name), record):
        return found(_POSITION, lost, name)
    view.records[name] = record
    if record is None:
        return passed(_POSITION, "The instance never published.", name)
    places = ", ".join(f"{source} {at.binlog}".strip() for source, at in record.positions.items())
    return passed(_POSITION, f"Published up to {places}.", name)


def _topics(
    kafka: KafkaSettings,
    instance: InstanceSettings,
    admin: TopicAdmin,
    store: StoreView,
    record: PositionRecord | None,
) -> Iterator[Finding]:
    if store.mapping is None:
        yield not_checked("topics", "the mapping is not known", instance.name)
        return
    placed = PublishedPartitioning.of(record)
    for topic, partitions in row_topics(instance, store.mapping, record).items():
        before = placed.partitions.get(topic)
        if changed := _changed(topic, placed, instance, store):
            yield found("topic", changed, instance.name)
        elif differ := _differ(topic, partitions, instance, store):
            yield found("topic", differ, instance.name)
        else:
            yield from _topic(
                kafka, instance, admin, topic, partitions, published=before is not None
            )


def _changed(
    topic: str, placed: PublishedPartitioning, instance: InstanceSettings, store: StoreView
) -> FormatChanged | PartitionsChanged | None:
    """Return an error if the instance has published to the topic otherwise than the settings say:
    by its record, or by the agreement if the record does not name the topic.
    """
    noted = store.agreements.get(topic, TopicAgreement()).own(instance.name)
    form = placed.formats.get(topic) or (None if noted is None else noted.format or None)
    if mixed := format_changed(topic, form, instance.format_of(topic)):
        return mixed
    before = placed.partitions.get(topic)
    if before is not None:
        return partitioning_changed(topic, before, placed.rules.get(topic), instance)
    if noted is not None:
        return noted_partitioning_changed(topic, noted.partitioning, instance)
    return None


def _reports_apart(
    instance: InstanceSettings, settings: RelaySettings, store: StoreView
) -> Iterator[Finding]:
    """Yield an error for each topic of rows that is also one of own records, transactions or
    heartbeats.

    For reports of another instance it is a warning, because running instances do not check them.
    """
    if store.mapping is None:
        return
    reports = {topic: each.name for each in settings.instances for topic in each.report_topics}
    reports |= dict.fromkeys(instance.report_topics, instance.name)
    for topic in known_topics(Router(store.mapping, instance.routing)):
        if is_own_topic(topic, settings.installation):
            yield found("topic", own_records_mixed(topic), instance.name)
        elif (whose := reports.get(topic)) is not None:
            is_own = whose == instance.name
            mixed = reports_mixed(topic, "" if is_own else whose)
            yield found("topic", mixed, instance.name, warning=not is_own)


def _differ(
    topic: str, partitions: int | None, instance: InstanceSettings, store: StoreView
) -> PartitionsDiffer | FormatsDiffer | None:
    """Return an error if another instance that publishes to the topic assigns rows to partitions
    differently, or has another format.

    `partitions` None: the number on which the instances agreed is used.
    """
    agreement = store.agreements.get(topic, TopicAgreement())
    form = instance.format_of(topic)
    if mixed := formats_differ(topic, form, agreement.differing_formats(instance.name, form)):
        return mixed
    count = partitions or next(
        (each.partitioning.partitions for each in agreement.feeders.values() if each.joined), None
    )
    if count is None:
        return None
    partitioning = TopicPartitioning(count, instance.partitioning_rules)
    return partitions_differ(topic, partitioning, agreement.differing(instance.name, partitioning))


def _topic(
    kafka: KafkaSettings,
    instance: InstanceSettings,
    admin: TopicAdmin,
    topic: str,
    partitions: int | None,
    *,
    published: bool,
) -> Iterator[Finding]:
    wanted = wanted_topic(kafka, instance, topic, partitions)
    try:
        state = admin.state(topic)
        if state is not None:
            yield from _of_topic(
                "topic",
                topic,
                row_topic_findings(state, wanted, published=published),
                instance.name,
            )
            return
        spec = new_topic(topic, wanted)
        admin.create(spec, only_ask=True)
        yield passed(
            "topic",
            f"{topic} does not exist yet and will be created with {spec.partitions} partitions.",
            instance.name,
        )
    except RelayError as exc:
        yield found("topic", exc, instance.name)


def _of_topic(
    check: str, topic: str, findings: Iterable[TopicFinding], instance: str
) -> list[Finding]:
    told = [found(check, each.error, instance, warning=each.warning) for each in findings]
    return told or [passed(check, f"{topic} has the configured settings.", instance)]


def _quiet(kafka: KafkaSettings) -> KafkaSettings:
    """Return settings without the client's own log, which would mix with preflight's output."""
    return kafka.model_copy(update={"client": {**kafka.client, "log_level": 0}})

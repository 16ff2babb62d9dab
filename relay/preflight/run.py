"""All checks of a configuration, one after the other; one that fails stops no other."""

from relay.errors import RelayError
from relay.model.positions.position import SourcePosition
from relay.partition import PartitionRule
from relay.preflight.cascade_checks import look_at_cascades
from relay.preflight.disk_checks import look_at_disks
from relay.preflight.finding import Finding, Verdict, found, passed
from relay.preflight.generated_checks import look_at_generated_columns
from relay.preflight.kafka_checks import KafkaView, look_at_kafka
from relay.preflight.row_checks import look_at_rows
from relay.preflight.source_checks import look_at_source
from relay.preflight.store_checks import look_at_store
from relay.refine import Refinements
from relay.route import MappingSet, TableFilter
from relay.settings import GroupSettings, InstanceSettings, RelaySettings


def preflight(settings: RelaySettings) -> list[Finding]:
    """Look at everything that the relay will need, and write nothing.

    Never raises an error of a server.
    """
    store = look_at_store(settings)
    kafka = look_at_kafka(settings, store)
    sources = [
        each
        for instance in settings.instances
        for each in _instance(settings.installation, instance, kafka, store.mapping)
    ]
    disks = [
        finding
        for instance in settings.instances
        for finding in look_at_disks(instance, settings.installation)
    ]
    return [*_instances(settings), *store.findings, *kafka.findings, *sources, *disks]


def _instances(settings: RelaySettings) -> list[Finding]:
    if settings.instances:
        return [_rules(instance) for instance in settings.instances]
    return [
        Finding(
            "settings",
            Verdict.WARNING,
            "The configuration names no instance.",
            "Add an [[instances]] table.",
        )
    ]


def _rules(instance: InstanceSettings) -> Finding:
    """Filters and partition rules are read when the instance starts to publish, so a broken one
    would show late.
    """
    placing = instance.partition
    try:
        TableFilter(instance.filter)
        Refinements(
            instance, dict.fromkeys((each.name for each in instance.lookups), lambda *_: None)
        )
        PartitionRule(
            placing.partition_hash,
            database_hash=placing.database_hash,
            partitions=placing.partitions_num or 1,
        )
    except RelayError as exc:
        return found("settings", exc, instance.name)
    return passed(
        "settings", "Filters, rules of rows and partition rules can be read.", instance.name
    )


def _instance(
    installation: str, instance: InstanceSettings, kafka: KafkaView, mapping: MappingSet | None
) -> list[Finding]:
    known = instance.name in kafka.records
    record = kafka.records.get(instance.name)
    unsure, replica = (
        "" if known else "the saved position is not known",
        f"{installation}.{instance.name}",
    )
    if instance.group is None:
        saved = None if record is None else record.source
        return _source(instance, saved, unsure, replica, mapping)
    positions = {} if record is None else record.positions
    found = (
        (member, positions.get(name)) for name, member in _members(instance, instance.group).items()
    )
    return [
        each for member, saved in found for each in _source(member, saved, unsure, replica, mapping)
    ]


def _source(
    instance: InstanceSettings,
    saved: SourcePosition | None,
    unsure: str,
    replica: str,
    mapping: MappingSet | None,
) -> list[Finding]:
    """Look at one source: its login and settings, the rules of its rows, and what its binlog does
    not tell.
    """
    findings = look_at_source(instance, saved, unsure, replica=replica)
    return [
        *findings,
        *look_at_rows(instance),
        look_at_cascades(instance, mapping),
        look_at_generated_columns(instance, mapping),
    ]


def _members(instance: InstanceSettings, group: GroupSettings) -> dict[str, InstanceSettings]:
    """The sources of a group by name, each as if it were an instance of its own."""
    return {
        name: instance.model_copy(
            update={"group": None, "source": source, "name": f"{instance.name}/{name}"}
        )
        for name, source in group.members(instance.source).items()
    }

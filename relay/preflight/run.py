"""Runs all checks of a configuration one after the other; a failed check does not stop the
others.
"""

from collections.abc import Sequence
from typing import Final

from relay.errors import RelayError
from relay.model.positions.position import SourcePosition
from relay.pipeline.delivery.keys.table_partitioning import partition_rule
from relay.preflight.cascade_checks import check_cascades
from relay.preflight.disk_checks import check_disks
from relay.preflight.finding import Finding, Verdict, found, not_checked, passed
from relay.preflight.generated_checks import check_generated_columns
from relay.preflight.kafka_checks import KafkaView, check_kafka
from relay.preflight.key_checks import check_keys
from relay.preflight.registry_checks import check_registry, has_registry
from relay.preflight.row_checks import check_rows
from relay.preflight.source_checks import check_instance_source
from relay.preflight.store_checks import check_store
from relay.refine import Refinements
from relay.route import MappingSet, TableFilter
from relay.settings import GroupSettings, InstanceSettings, RelaySettings

_OWN_SECRETS: Final = (
    "Run `roma preflight` on the relay's server, or give this host the variable too."
)


def preflight(
    settings: RelaySettings, *, on_relay: bool = True, without_secrets: str = ""
) -> list[Finding]:
    """Check everything that the relay needs, without writes.

    on_relay         whether this is a relay's server; otherwise folders and stores are not checked
    without_secrets  why this host lacks secrets of the instances, as an end of "Not checked
                     because"; sources and registries are then not checked. "": it has them

    Errors of servers are findings, never raised.
    """
    store = check_store(settings)
    kafka = check_kafka(settings, store)
    if without_secrets:
        logins = _no_logins(settings.instances, without_secrets)
    else:
        logins = [
            *_logins(settings, kafka, store.mapping),
            *check_keys(settings, kafka.records, store.mapping),
        ]
    disks = [
        finding
        for instance in settings.instances
        for finding in (check_disks if on_relay else _no_disks)(instance, settings.installation)
    ]
    return [*_instances(settings), *store.findings, *kafka.findings, *logins, *disks]


def _logins(settings: RelaySettings, kafka: KafkaView, mapping: MappingSet | None) -> list[Finding]:
    """Check what needs secrets of an instance: registries, then sources."""
    instances = settings.instances
    registries = [finding for each in instances for finding in check_registry(each, mapping)]
    sources = [
        finding
        for each in instances
        for finding in _instance(settings.installation, each, kafka, mapping)
    ]
    return [*registries, *sources]


def _no_logins(instances: Sequence[InstanceSettings], because: str) -> list[Finding]:
    return [
        not_checked(check, because, each.name, _OWN_SECRETS)
        for each in instances
        for check in (*(["registry"] if has_registry(each) else []), "source", "keys")
    ]


def _no_disks(instance: InstanceSettings, _: str) -> list[Finding]:
    has_spool = instance.spool == "mixed" and instance.spooling.directory is not None
    asked = (("spool", has_spool), ("claims", instance.oversize == "claim_check"))
    because, remedy = "only the relay's server has it", "Run `roma preflight` there."
    return [not_checked(check, because, instance.name, remedy) for check, wanted in asked if wanted]


def _instances(settings: RelaySettings) -> list[Finding]:
    if settings.instances:
        return [_rules(instance) for instance in settings.instances]
    return [
        Finding(
            "settings",
            Verdict.WARNING,
            "The configuration has no instance.",
            "Add an [[instances]] table.",
        )
    ]


def _rules(instance: InstanceSettings) -> Finding:
    """Parse filters, row rules and partition rules. The relay parses them only when the instance
    starts to publish, so an error would appear late.
    """
    try:
        TableFilter(instance.filter)
        Refinements.without_answers(instance)
        partition_rule(instance, instance.partition.partitions_num or 1)
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
    """Check one source: its login and settings, its row rules, and changes that its binlog
    lacks.
    """
    findings = check_instance_source(instance, saved, unsure, replica=replica)
    return [
        *findings,
        *check_rows(instance),
        check_cascades(instance, mapping),
        check_generated_columns(instance, mapping),
    ]


def _members(instance: InstanceSettings, group: GroupSettings) -> dict[str, InstanceSettings]:
    """Return the sources of a group by name, each as a separate instance."""
    return {
        name: instance.model_copy(
            update={"group": None, "source": source, "name": f"{instance.name}/{name}"}
        )
        for name, source in group.members(instance.source).items()
    }

"""Finds tables of the source whose keys the relay would hash in another form than the rows that are
already in their topics.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Final

from relay.deadline import Deadline
from relay.errors import (
    PartitionsChanged,
    RelayError,
    RuleRefused,
    SnapshotRefused,
    UnmappedName,
)
from relay.model.names.first_names import first_names
from relay.model.records.hashed_forms import Forms
from relay.model.records.position_record import PositionRecord
from relay.model.table import TableId, tables_named
from relay.pipeline.delivery.keys.key_forms import KeyForms
from relay.pipeline.delivery.keys.table_partitioning import (
    partition_rule,
    refinement_of,
    some_go_to,
    table_partitioning,
)
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.saved_sets import SavedSets
from relay.preflight.finding import Finding, Verdict, found, not_checked, passed
from relay.refine import Refinements
from relay.route import Destination, MappingSet, Router, TableFilter
from relay.schema import (
    CatalogReader,
    CatalogTable,
    CatalogVersions,
    TableDefinitions,
    described_map,
)
from relay.schema.type_text import type_text
from relay.settings import InstanceSettings, RelaySettings
from relay.state import (
    FormStore,
    HashedKey,
    InstanceStore,
    KeyAgreements,
    KeyFormStore,
    MappingStore,
    Paths,
    PlannedForms,
    keys_differ,
)
from relay.zk import Session

_CHECK: Final = "keys"
_CONNECT_SECONDS: Final = 10.0


def check_keys(
    settings: RelaySettings,
    records: Mapping[str, PositionRecord | None],
    mapping: MappingSet | None,
) -> list[Finding]:
    """Compare the keys of each instance's tables with the recorded keys of their topics.

    records  instance → position record, or None without one; instances with an unknown position are
             missing
    mapping  the active mapping; None: unknown
    """
    # Instances with published rows come first, because the form of existing rows decides.
    instances = sorted(settings.instances, key=lambda each: records.get(each.name) is None)
    if mapping is None:
        return [not_checked(_CHECK, "the mapping is not known", each.name) for each in instances]
    findings = [
        not_checked(_CHECK, "the saved position is not known", each.name)
        for each in instances
        if each.name not in records
    ]
    left = [each for each in instances if each.name in records]
    try:
        session = Session(settings.zookeeper)
    except RelayError as exc:
        return [*findings, *_silent(left, exc)]
    try:
        session.start(Deadline.after(_CONNECT_SECONDS))
        store = KeysInStore(session, Paths.of(settings.zookeeper, settings.installation), mapping)
        while left:
            findings += of_instance(left[0], records[left[0].name], store)
            left = left[1:]
    except RelayError as exc:
        findings += _silent(left, exc)
    finally:
        session.stop()
    return findings


class KeysInStore:
    """What ZooKeeper has stored about the forms of keys, and about the tables that instances have
    read.
    """

    def __init__(self, session: Session, paths: Paths, mapping: MappingSet) -> None:
        self.forms: FormStore = PlannedForms(KeyFormStore(session, paths))
        self.mapping = mapping
        self._notes = InstanceStore(session, paths)
        self._sets = SavedSets(MappingStore(session, paths))

    def tables_of(self, instance: str) -> frozenset[TableId]:
        """Return the real tables that an instance has read."""
        return frozenset(tables_named(self._notes.tables_of(instance)))

    def published_set(self, record: PositionRecord | None) -> MappingSet:
        """Return the set that a record names, the active set if the store lacks it."""
        if record is None or record.mapping.number == self.mapping.number:
            return self.mapping
        documents = self._sets.documents(record.mapping)
        if documents is None:
            return self.mapping
        return MappingSet.compile(record.mapping.number, dict(documents))


@dataclass(frozen=True, slots=True)
class WithoutKeys:
    """The relayed tables whose keys are not compared.

    unknown  tables with columns of unknown types
    refused  tables whose first row stops the instance, because a rule cannot be applied to them:
             reason → error and tables
    """

    unknown: list[TableId] = field(default_factory=list)
    refused: dict[str, tuple[RuleRefused, list[TableId]]] = field(default_factory=dict)


class PastOfKeys:
    """What one instance has published.

    `told` has sentences about equal keys that an older version of the relay already published to
    different partitions.
    """

    def __init__(
        self, instance: InstanceSettings, record: PositionRecord | None, store: KeysInStore
    ) -> None:
        self.told: dict[str, None] = {}
        self.tables = store.tables_of(instance.name)
        self._router = Router(store.published_set(record), instance.routing)
        self._has_record = record is not None

    def had_rows(self, key: HashedKey) -> bool:
        """Return whether a real table that the instance has read went to this topic."""
        return self._has_record and some_go_to(self._router, self.tables, key)

    def warn(self, key: HashedKey, others: Forms) -> None:
        """Store a sentence about a difference that does not stop the instance."""
        self.told[keys_differ(key, others)] = None


def of_instance(
    instance: InstanceSettings, record: PositionRecord | None, store: KeysInStore
) -> list[Finding]:
    """Return a warning for each table whose first row would stop the instance, and for each
    difference in hashed keys that does not stop it. Raises StoreUnreachable.
    """
    past = PastOfKeys(instance, record, store)
    agreements = KeyAgreements(store.forms, instance.partitioning_rules.digest)
    forms = KeyForms(PublishedPartitioning.of(record), agreements, past)
    without = WithoutKeys()
    try:
        keys = list(_keys_of_tables(instance, Router(store.mapping, instance.routing), without))
    except RelayError as exc:
        return [not_checked(_CHECK, f"the source's keys are not known: {exc.code}", instance.name)]
    # Tables that the instance has read come first, because their rows are already published.
    keys.sort(key=lambda each: (each[0] not in past.tables, each[0]))
    stops: dict[str, tuple[RelayError, list[TableId]]] = dict(without.refused)
    for real, key in keys:
        try:
            forms.keep(key)
        except PartitionsChanged as exc:
            stops.setdefault(exc.reason, (exc, []))[1].append(real)
    findings = [_stopping(error, tables, instance.name) for error, tables in stops.values()]
    findings += [
        Finding(_CHECK, Verdict.WARNING, words, instance=instance.name) for words in past.told
    ]
    if without.unknown:
        because = f"columns of {first_names(without.unknown)} are of unknown types"
        findings.append(not_checked(_CHECK, because, instance.name))
    alike = "The keys of all tables that the account may see are hashed as those of their topics."
    return findings or [passed(_CHECK, alike, instance.name)]


def _stopping(error: RelayError, tables: Sequence[TableId], instance: str) -> Finding:
    told = found(_CHECK, error, instance, warning=True)
    sentence = f"The first row of {first_names(tables)} stops the instance ({error.code})."
    return replace(
        told,
        sentence=f"{sentence} {told.sentence}",
        remedy=told.remedy.replace(" INSTANCE ", f" {instance} "),
    )


def _keys_of_tables(
    instance: InstanceSettings, router: Router, without: WithoutKeys
) -> Iterator[tuple[TableId, HashedKey]]:
    """Yield each real table with its key in each of its topics, as the relay hashes it. `without`
    gets the other tables.

    Raises SourceUnreachable and the like, ConfigurationError.
    """
    refinements = Refinements.without_answers(instance)
    group = instance.group
    servers = [instance.source] if group is None else group.members(instance.source).values()
    for server in servers:
        with closing(CatalogReader(server)) as catalog:
            tables = TablesNow(instance, catalog, refinements)
            yield from tables.keys(router, without)


class TablesNow:
    """The tables of a server as its catalogue describes them now."""

    def __init__(
        self, instance: InstanceSettings, catalog: CatalogReader, refinements: Refinements
    ) -> None:
        self._instance = instance
        self._refinements = refinements
        self._snapshot = catalog.snapshot()
        self._rule = partition_rule(instance, 1)
        self._definitions = TableDefinitions(
            type_text,
            CatalogNow(catalog),
            as_declared=instance.message.value_style == "canal",
            marks_history=instance.message.marks_history,
        )

    def keys(self, router: Router, without: WithoutKeys) -> Iterator[tuple[TableId, HashedKey]]:
        """Yield each relayed table with its key in each of its topics.

        Tables whose keys are not compared are added to `without` instead.
        """
        accepts = TableFilter(self._instance.filter).accepts
        in_key = self._instance.routing.key_scope == "shard"
        for real in filter(accepts, self._snapshot.tables):
            try:
                route = router.route(real)
                form = self._form(real, route.logical) if isinstance(route, Destination) else ""
            except SnapshotRefused:
                without.unknown.append(real)
                continue
            except RuleRefused as exc:
                without.refused.setdefault(exc.reason, (exc, []))[1].append(real)
                continue
            except UnmappedName:
                # such a row stops the instance with another error, before its key is hashed
                continue
            if form and isinstance(route, Destination):
                for topic in route.topics:
                    yield real, HashedKey(topic, route.logical, form, real if in_key else None)

    def _form(self, real: TableId, logical: TableId) -> str:
        described = self._snapshot.tables[real]
        whole = described_map(real, described, mariadb=self._snapshot.mariadb)
        definition = self._definitions.define(whole)
        refinement = refinement_of(self._instance, self._refinements, definition, logical)
        used = definition if refinement is None else refinement.definition
        return table_partitioning(self._rule, used, logical)[1]


class CatalogNow:
    """Reads the types of a source's columns once, and other facts when they are needed."""

    def __init__(self, catalog: CatalogReader) -> None:
        self._catalog = catalog
        self._types = catalog.type_texts()

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None:
        """Return the types of a table's columns; None if the table does not exist any more. Keys
        are not read again: the table map has them.
        """
        del keys
        found = self._types.get(table)
        return None if found is None else CatalogTable(tuple(found), ())

    def versions(self, table: TableId) -> CatalogVersions | None:
        """Return how the source keeps versions of the table's rows; None if it is gone."""
        return self._catalog.versions(table)


def _silent(instances: Sequence[InstanceSettings], error: RelayError) -> list[Finding]:
    because = f"the hash forms of keys cannot be read from ZooKeeper: {error.code}"
    return [not_checked(_CHECK, because, each.name) for each in instances]

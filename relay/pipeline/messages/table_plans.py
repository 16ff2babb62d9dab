"""Makes the plans of tables under one mapping set: definition, route, partitions and encoders."""

from dataclasses import replace

from relay.compiled import Facts, slow_reason
from relay.encode import (
    KeyEncoder,
    PartitionTexts,
    RowHistory,
    as_history,
    tag_headers,
)
from relay.errors import NamesUnknown, TopicRefused
from relay.model.change import RowsEvent
from relay.model.row_path import SlowReason
from relay.model.table import TableDefinition, TableId, TableMap
from relay.partition import PartitionRule
from relay.pipeline.delivery.keys.table_partitioning import (
    partition_rule,
    refinement_of,
    table_partitioning,
)
from relay.pipeline.messages.choice_of_format import MessageFormats, names_coordinates
from relay.pipeline.messages.printing.event_printer import (
    EventPrinter,
    RowCount,
    make_event_printer,
)
from relay.pipeline.messages.row_form import RowForm, TopicRoute
from relay.pipeline.messages.row_topics import RowTopics
from relay.pipeline.messages.table_plan import TablePlan
from relay.refine import Refinements
from relay.route import Destination, Dropped, Router, TableFilter, tags_for
from relay.schema import TableDefinitions
from relay.settings import InstanceSettings


class TablePlans:
    """Makes and caches the plan of each table map, under one mapping set."""

    def __init__(
        self,
        settings: InstanceSettings,
        router: Router,
        definitions: TableDefinitions,
        topics: RowTopics,
        refinements: Refinements,
        formats: MessageFormats,
    ) -> None:
        self.router = router
        self._formats = formats
        self._refinements = refinements
        self._settings = settings
        self._definitions = definitions
        self._topics = topics
        self._filter = TableFilter(settings.filter)
        self._rules: dict[int, PartitionRule] = {}
        self._counts: dict[TableId, tuple[TableMap, RowCount]] = {}
        self._plans: dict[TableId, tuple[TableMap, TablePlan | Dropped]] = {}

    def plan(self, table: TableMap) -> TablePlan | Dropped:
        """Return how rows with this table map are published, or why they are dropped.

        Raises NamesUnknown, TopicRefused, and the errors of the topics.
        """
        found = self._plans.get(table.id)
        if found is None or (found[0] is not table and found[0] != table):
            found = self._plans[table.id] = (table, self._make(table))
        return found[1]

    def count(self, event: RowsEvent) -> int:
        """Return the number of rows of an event that is not published, if possible without decoding
        its values.
        """
        found = self._counts.get(event.table.id)
        if found is None or found[0] is not event.table:
            found = self._counts[event.table.id] = (event.table, RowCount(event.table))
        return found[1].of(event)

    def forget(self) -> None:
        """Remove all cached plans, because a statement may have changed tables."""
        self._plans.clear()

    def _make(self, table: TableMap) -> TablePlan | Dropped:
        if not self._filter.accepts(table.id):
            return Dropped("the instance's filter leaves it out.", "filter")
        destination = self.router.route(table.id)
        if isinstance(destination, Dropped):
            return destination
        return self._published(table, destination)

    def _published(self, table: TableMap, destination: Destination) -> TablePlan:
        """Return the plan of a table that is published.

        Raises NamesUnknown and TopicRefused.
        """
        if table.unknown:
            raise NamesUnknown(
                f"The columns of {table.id} have no names: {table.unknown}.", table=table.id
            )
        settings = self._settings
        definition = published = self._definitions.define(table)
        refinement = refinement_of(settings, self._refinements, definition, destination.logical)
        if refinement is not None:
            definition, published = refinement.definition, refinement.published
            destination = with_fields_of(destination, published)
        self._refuse_without_key(published, destination)
        forms = self._forms(definition, published, destination)
        return TablePlan(
            definition=definition,
            destination=destination,
            forms=forms,
            keys=self._keys(published, destination.logical, table.id),
            tags=tag_headers(tags_for(destination, ())),
            split_key_change=settings.message.key_change == "split",
            printer=self._event_printer(
                definition, destination, forms[0], refined=refinement is not None
            ),
            refinement=refinement,
            history=self._history(definition, published, destination),
        )

    def _forms(
        self, definition: TableDefinition, published: TableDefinition, destination: Destination
    ) -> tuple[RowForm, ...]:
        """Return the table's topics by format, and make them where they are missing."""
        name = destination.logical
        past = None if definition.versions is None else as_history(published)
        return tuple(
            RowForm(
                tuple(self._route(topic, definition, name) for topic in topics),
                form.rows(published, name, topics),
                None if past is None else form.rows(past, name, topics),
                form.headers,
                names_coordinates(form),
            )
            for form, topics in self._formats.by_format(destination.topics)
        )

    def _refuse_without_key(self, published: TableDefinition, destination: Destination) -> None:
        compacted = next(filter(self._topics.is_compacted, destination.topics), None)
        if compacted is not None and not published.key:
            raise TopicRefused(
                f"{published.id} has no key, and the compacted topic {compacted} accepts no "
                "record without a key.",
                remedy=(
                    "Give the table a primary key, leave it out with filter_black_regex, or let "
                    "its topic keep all rows (topic.rules, or another topic in the mapping)."
                ),
            )

    def _keys(self, published: TableDefinition, logical: TableId, real: TableId) -> KeyEncoder:
        shard = real if self._settings.routing.key_scope == "shard" else None
        return KeyEncoder(
            published, logical, shard, as_printed=self._settings.message.key_values == "printed"
        )

    def _history(
        self, definition: TableDefinition, published: TableDefinition, destination: Destination
    ) -> RowHistory | None:
        if definition.versions is None:
            return None
        shown = as_history(published)
        return RowHistory(
            as_history(definition),
            definition.versions.end,
            self._keys(shown, destination.logical, definition.id),
        )

    def _event_printer(
        self,
        definition: TableDefinition,
        destination: Destination,
        form: RowForm,
        *,
        refined: bool,
    ) -> EventPrinter | SlowReason:
        """Return the printer of whole events if all rows of one go to one topic under the same
        tags, else why there is none.
        """
        facts = facts_of(self._settings)._replace(
            refined=refined,
            field_tags=bool(destination.tags.fields),
            topics=len(destination.topics),
            format_compiled=form.rows.is_compiled,
        )
        reason = slow_reason(facts)
        if reason is not None:
            return reason
        shard = (str(definition.id),) if self._settings.routing.key_scope == "shard" else ()
        # Close to the limit the readable packages cut the rows of an event into several messages.
        largest = (
            form.routes[0].limit_bytes // 2
            if self._settings.message.rows_per_message == "event"
            else None
        )
        lossless = self._settings.message.key_values == "lossless"
        return make_event_printer(
            definition,
            (str(destination.logical), *shard),
            form.routes[0].partitioning,
            form.rows,
            largest,
            lossless_keys=lossless,
        )

    def _route(self, topic: str, definition: TableDefinition, name: TableId) -> TopicRoute:
        count = self._topics.partitions(topic)
        rule = self._rules.get(count)
        if rule is None:
            rule = self._rules[count] = partition_rule(self._settings, count)
        partitioning, form = table_partitioning(rule, definition, name)
        shard = definition.id if self._settings.routing.key_scope == "shard" else None
        self._topics.keep_key_forms(topic, name, form, shard)
        return TopicRoute(
            topic,
            partitioning,
            PartitionTexts(definition, partitioning.ordinals),
            self._topics.sizes.limits[topic],
        )


def with_fields_of(destination: Destination, published: TableDefinition) -> Destination:
    """Return the destination without tags for fields that the published table does not have."""
    names = {column.name.lower() for column in published.map.columns}
    fields = tuple(field for field in destination.tags.fields if field[0].lower() in names)
    return replace(destination, tags=replace(destination.tags, fields=fields))


def facts_of(instance: InstanceSettings) -> Facts:
    """Return the facts in an instance's settings that decide which printer is used."""
    message = instance.message
    return Facts(
        row_printer=instance.row_printer,
        value_style=message.value_style,
        tombstones=message.tombstones,
    )

"""Everything about one table under one mapping set, made once: schema, route, partition and encode
look at it together.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from relay.compiled import Facts, slow_reason
from relay.encode import (
    KeyEncoder,
    PartitionTexts,
    RowEncoder,
    RowHistory,
    as_history,
    exact_text,
    key_changed,
    split_update,
    tag_headers,
)
from relay.errors import NamesUnknown
from relay.model.change import RowChange, RowsEvent
from relay.model.message import Headers
from relay.model.row_path import SlowReason
from relay.model.table import TableDefinition, TableId, TableMap
from relay.model.value import Row
from relay.partition import PartitionRule, TablePlacement
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.messages.printing.event_printer import (
    EventPrinter,
    RowCount,
    make_event_printer,
)
from relay.refine import Refinements, TableRefinement
from relay.route import Destination, Dropped, Router, TableFilter, tags_for
from relay.schema import TableDefinitions
from relay.settings import InstanceSettings


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """A topic that a table's rows go to: how they are partitioned there, and its largest message in
    bytes.
    """

    topic: str
    placement: TablePlacement
    texts: PartitionTexts
    limit_bytes: int

    def partition(self, change: RowChange) -> int:
        """Where a change goes: by the image after, a delete by the image before."""
        row: Row = (change.before if change.after is None else change.after) or ()
        return self.placement.place(self.texts.of(row))

    def moves(self, change: RowChange) -> bool:
        """Whether an update leaves its partition's columns changed."""
        if (
            change.before is None
            or change.after is None
            or self.texts.are_same(change.before, change.after)
        ):
            return False
        return self.placement.changes_partition(
            self.texts.of(change.before), self.texts.of(change.after)
        )


class PlannedChange(NamedTuple):
    """A change as messages have it.

    `history` prints a history row, and is None for a current one.
    """

    change: RowChange
    history: RowHistory | None = None

    def keys(self, plan: "TablePlan") -> KeyEncoder:
        """Return what encodes the key of the row."""
        return plan.keys if self.history is None else self.history.keys


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A published table. `printer` prints whole events, or is why the readable path prints them.

    With a `refinement`, `definition` is the table as rows are placed by, and `rows` and `keys`
    print the one that messages speak of. With a `history`, they print current rows, and it prints
    the others.
    """

    definition: TableDefinition
    destination: Destination
    routes: tuple[TopicRoute, ...]
    rows: RowEncoder
    keys: KeyEncoder
    tags: Headers
    split_key_change: bool
    printer: EventPrinter | SlowReason = SlowReason.SETTING
    refinement: TableRefinement | None = None
    history: RowHistory | None = None

    @property
    def limit_bytes(self) -> int:
        """What every topic of the table takes at once."""
        return min(route.limit_bytes for route in self.routes)

    def splits(self, change: RowChange) -> bool:
        """Whether an update travels as a delete and an insert."""
        if change.before is None or change.after is None:
            return False
        if self.history is not None and self.history.splits(change):
            return True
        if key_changed(change, self.definition):
            return self.split_key_change
        return any(route.moves(change) for route in self.routes)

    def parts(self, change: RowChange) -> tuple[PlannedChange, ...]:
        """Return the changes that a change travels as: itself, or the delete and the insert of an
        update that splits.
        """
        history = self.history
        if not self.splits(change):
            return (
                PlannedChange(
                    change, history if history is not None and history.holds(change) else None
                ),
            )
        if history is None:
            return tuple(PlannedChange(half) for half in split_update(change))
        return tuple(
            PlannedChange(half, history if past else None) for half, past in history.halves(change)
        )

    def take_undecodable(self) -> int:
        """Return how many values were printed with U+FFFD since this was asked last."""
        return self.rows.take_undecodable() + (
            0 if self.history is None else self.history.rows.take_undecodable()
        )


class TablePlans:
    """Plans by table map, for one mapping set; a new set means new plans."""

    def __init__(
        self,
        settings: InstanceSettings,
        router: Router,
        definitions: TableDefinitions,
        topics: Topics,
        refinements: Refinements,
    ) -> None:
        self.router = router
        self._refinements = refinements
        self._settings = settings
        self._definitions = definitions
        self._topics = topics
        self._filter = TableFilter(settings.filter)
        self._rules: dict[int, PartitionRule] = {}
        self._counts: dict[TableId, tuple[TableMap, RowCount]] = {}
        self._plans: dict[TableId, tuple[TableMap, TablePlan | Dropped]] = {}

    def plan(self, table: TableMap) -> TablePlan | Dropped:
        """Return the plan for the rows behind this table map."""
        found = self._plans.get(table.id)
        if found is None or (found[0] is not table and found[0] != table):
            found = self._plans[table.id] = (table, self._make(table))
        return found[1]

    def count(self, event: RowsEvent) -> int:
        """Return how many rows an event has that is left out."""
        found = self._counts.get(event.table.id)
        if found is None or found[0] is not event.table:
            found = self._counts[event.table.id] = (event.table, RowCount(event.table))
        return found[1].of(event)

    def forget(self) -> None:
        """A statement may have changed tables."""
        self._plans.clear()

    def _make(self, table: TableMap) -> TablePlan | Dropped:
        if not self._filter.accepts(table.id):
            return Dropped("the instance's filter leaves it out.", "filter")
        destination = self.router.route(table.id)
        if isinstance(destination, Dropped):
            return destination
        if table.unknown:
            raise NamesUnknown(
                f"The columns of {table.id} have no names: {table.unknown}.", table=table.id
            )
        settings = self._settings
        definition = published = self._definitions.define(table)
        refinement = self._refinements.of(definition, destination.logical, exact_text)
        if refinement is not None:
            definition, published = refinement.definition, refinement.published
            destination = with_fields_of(destination, published)
        routes = tuple(
            self._route(topic, definition, destination.logical) for topic in destination.topics
        )
        rows = RowEncoder(published, destination.logical, settings.message.value_style)
        printer = self._event_printer(
            definition, destination, routes, rows, refined=refinement is not None
        )
        return TablePlan(
            definition=definition,
            destination=destination,
            routes=routes,
            rows=rows,
            keys=self._keys(published, destination.logical, table.id),
            tags=tag_headers(tags_for(destination, ())),
            split_key_change=settings.message.key_change == "split",
            printer=printer,
            refinement=refinement,
            history=self._history(definition, published, destination.logical),
        )

    def _keys(self, published: TableDefinition, logical: TableId, real: TableId) -> KeyEncoder:
        shard = real if self._settings.routing.key_scope == "shard" else None
        return KeyEncoder(
            published, logical, shard, as_printed=self._settings.message.key_values == "printed"
        )

    def _history(
        self, definition: TableDefinition, published: TableDefinition, logical: TableId
    ) -> RowHistory | None:
        if definition.versions is None:
            return None
        shown = as_history(published)
        rows = RowEncoder(shown, logical, self._settings.message.value_style)
        return RowHistory(
            as_history(definition),
            definition.versions.end,
            rows,
            self._keys(shown, logical, definition.id),
        )

    def _event_printer(
        self,
        definition: TableDefinition,
        destination: Destination,
        routes: tuple[TopicRoute, ...],
        rows: RowEncoder,
        *,
        refined: bool,
    ) -> EventPrinter | SlowReason:
        """Return the printer of whole events where all rows of one go to one topic under the same
        tags, else why there is none.
        """
        facts = facts_of(self._settings)._replace(
            refined=refined, field_tags=bool(destination.tags.fields), topics=len(routes)
        )
        reason = slow_reason(facts)
        if reason is not None:
            return reason
        shard = (str(definition.id),) if self._settings.routing.key_scope == "shard" else ()
        # Close to the limit the readable rooms cut the rows of an event into several messages.
        largest = (
            routes[0].limit_bytes // 2
            if self._settings.message.rows_per_message == "event"
            else None
        )
        lossless = self._settings.message.key_values == "lossless"
        return make_event_printer(
            definition,
            (str(destination.logical), *shard),
            routes[0].placement,
            rows,
            largest,
            lossless_keys=lossless,
        )

    def _route(self, topic: str, definition: TableDefinition, name: TableId) -> TopicRoute:
        count = self._topics.partitions(topic)
        rule = self._rules.get(count)
        if rule is None:
            placing = self._settings.partition
            rule = PartitionRule(
                placing.partition_hash, database_hash=placing.database_hash, partitions=count
            )
            self._rules[count] = rule
        names = tuple(column.name for column in definition.map.columns)
        placement = rule.for_table(name, names, definition.key)
        return TopicRoute(
            topic,
            placement,
            PartitionTexts(definition, placement.ordinals),
            self._topics.sizes.limits[topic],
        )


def with_fields_of(destination: Destination, published: TableDefinition) -> Destination:
    """The destination without tags for fields that messages do not have."""
    names = {column.name.lower() for column in published.map.columns}
    fields = tuple(field for field in destination.tags.fields if field[0].lower() in names)
    return replace(destination, tags=replace(destination.tags, fields=fields))


def facts_of(instance: InstanceSettings) -> Facts:
    """Return what an instance's settings say for the choice of a printer."""
    message = instance.message
    return Facts(
        row_printer=instance.row_printer,
        value_style=message.value_style,
        tombstones=message.tombstones,
    )


def changed_columns(change: RowChange, definition: TableDefinition) -> list[str] | None:
    """Names of the columns that an update changes; None for an insert or a delete, which touch
    all.
    """
    if change.before is None or change.after is None:
        return None
    columns = definition.map.columns
    return [
        columns[i].name
        for i, (a, b) in enumerate(zip(change.before, change.after, strict=True))
        if a != b
    ]

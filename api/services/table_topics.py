"""Collects what consumers of logical tables need: Kafka's address, topics, tags, formats."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from api.access import Caller
from api.errors import NoSuchThing
from api.models.subscription import (
    FeedingInstanceView,
    SubscribableTableView,
    SubscriptionView,
    TopicSinceView,
)
from api.services.mappings.logical_tables import LogicalTable
from api.services.mappings.logical_view import LogicalViews
from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.topic_arrivals import TopicArrivals
from relay.model.table import TableId
from relay.operations import DefinedInstances
from relay.settings import InstanceSettings, RelaySettings

_OFFERED_NAMES: Final = 3
"""An unknown name is answered with at most this many that are written like it."""


class TableTopics:
    """Returns what consumers need, from the active set and the instances' settings."""

    def __init__(
        self,
        archive: MappingArchive,
        logical: LogicalViews,
        settings: RelaySettings,
        defined: Callable[[], DefinedInstances],
    ) -> None:
        self._archive = archive
        self._logical = logical
        self._settings = settings
        self._defined = defined
        self._arrivals = TopicArrivals(archive)

    def all(self, caller: Caller) -> SubscriptionView:
        """Return the information about every logical table. Raises ActiveSetBroken."""
        return self._view(self._logical.mapping().tables, caller)

    def one(self, name: TableId, caller: Caller) -> SubscriptionView:
        """Return the information about one logical table.

        Raises NoSuchThing, which names similar tables, and ActiveSetBroken.
        """
        tables = self._logical.mapping().tables
        found = [each for each in tables if each.name == name]
        if not found:
            raise NoSuchThing(_unknown(name, [each.name for each in tables]))
        return self._view(found, caller)

    def _view(self, tables: Iterable[LogicalTable], caller: Caller) -> SubscriptionView:
        instances, number = self._defined().settings, self._archive.active().number
        return SubscriptionView(
            installation=self._settings.installation,
            set=number,
            bootstrap_servers=self._settings.kafka.bootstrap_servers,
            caller=caller.name if caller.is_user else "",
            tables=[_table(each, instances, self._since(number, each)) for each in tables],
        )

    def _since(self, number: int, table: LogicalTable) -> dict[str, TopicSinceView]:
        database = table.name.database
        found = {each: self._arrivals.since(number, database, each) for each in table.topics}
        return {
            topic: TopicSinceView(set=each.number, seconds=each.seconds)
            for topic, each in found.items()
        }


def _table(
    table: LogicalTable,
    instances: Sequence[InstanceSettings],
    since: dict[str, TopicSinceView],
) -> SubscribableTableView:
    met = {name for name, tables in table.seen.items() if tables}
    return SubscribableTableView(
        logical_database=table.name.database,
        logical_table=table.name.table,
        topics=list(table.topics),
        since=since,
        tags=sorted({*table.tags.table, *(tag for _, tag in table.tags.fields)}),
        instances=[
            _instance(each, table.topics) for each in instances if not met or each.name in met
        ],
    )


def _instance(settings: InstanceSettings, topics: Sequence[str]) -> FeedingInstanceView:
    formats: dict[str, str] = {topic: settings.format_of(topic) for topic in topics}
    return FeedingInstanceView(
        name=settings.name,
        names=settings.routing.names,
        format=next(iter(formats.values()), settings.message.format),
        formats=formats,
        value_style=settings.message.value_style,
        ddl=settings.message.ddl,
        transaction_topic=settings.transaction_topic,
    )


def _unknown(name: TableId, known: Sequence[TableId]) -> str:
    near = get_close_matches(str(name), [str(each) for each in known], n=_OFFERED_NAMES)
    offer = f" Similar names: {', '.join(near)}." if near else ""
    return (
        f"The active mapping has no logical table {name}.{offer} A table without a rule is "
        f"listed after a relay has read its first row."
    )

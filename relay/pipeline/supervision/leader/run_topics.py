"""Makes the object `Topics` of a run, from what the instance published before the run."""

from collections.abc import Callable
from functools import partial

import structlog

from relay.errors import StoreUnreachable
from relay.model.names.own_topics import is_own_topic, own_records_mixed
from relay.model.records.position_record import PositionRecord
from relay.model.table import TableId, tables_named
from relay.pipeline.active_mapping import ReadKept
from relay.pipeline.delivery.keys.table_partitioning import some_go_to
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.pipeline.delivery.topic_feeders import TopicFeeders
from relay.pipeline.delivery.topics import Refusals, Topics
from relay.pipeline.supervision.instance_context import InstanceContext, InstanceMemory
from relay.route import Router
from relay.state import HashedKey, keys_differ

_log = structlog.stdlib.get_logger(__name__)


class PublishedBefore:
    """Finds out what an instance published before its present run.

    `tables` are the real tables that it has read, and `saved` is its position record. `read_kept`
    reads the documents of a mapping set from the position topic.
    """

    def __init__(
        self,
        context: InstanceContext,
        tables: frozenset[TableId],
        saved: PositionRecord | None,
        read_kept: ReadKept,
    ) -> None:
        self._context = context
        self._tables = tables
        self._saved = saved
        self._read_kept = read_kept

    def had_rows(self, key: HashedKey) -> bool:
        """Return whether the instance may have published rows of the logical table in `key` to the
        topic in `key`.

        The result is True if the mapping set in the position record routes one of the read real
        tables there.
        """
        if self._saved is None:
            return False
        mapping = self._context.mapping
        former = mapping.published_set(self._saved, self._read_kept)
        router = (
            mapping.router
            if former is None
            else Router(former.mapping, self._context.instance.routing)
        )
        return some_go_to(router, self._tables, key)

    def warn(self, key: HashedKey, others: tuple[str, ...]) -> None:
        """Report in the log and in the status that rows with equal keys are in different
        partitions. `others` are the other text forms in which the keys were hashed.
        """
        reason = keys_differ(key, others)
        self._context.stats.key_differences[key.topic, str(key.table)] = reason
        _log.warning("keys_differ", instance=self._context.instance.name, reason=reason)


def run_topics(
    context: InstanceContext,
    memory: InstanceMemory,
    saved: PositionRecord | None,
    read_kept: ReadKept,
    in_use: Callable[[int], None],
) -> Topics:
    """Return the object that gives the topics of the rows.

    context    the context of the instance
    memory     its state that stays from run to run
    saved      the position record; None: there is none
    read_kept  reads the documents of a mapping set from the position topic
    in_use     called with the total number of partitions that rows go to

    First writes to ZooKeeper what older versions did not record about topics; an outage of
    ZooKeeper is only logged.
    """
    feeders = TopicFeeders(context.notes, context.instance.name)
    try:
        _note_past(context, feeders, saved)
    except StoreUnreachable as exc:
        _log.warning("past_not_noted", instance=context.instance.name, reason=exc.reason)
    return Topics(
        context.settings.kafka,
        context.instance,
        PublishedPartitioning.of(saved),
        memory.sizes,
        feeders,
        PublishedBefore(context, frozenset(context.stats.tables), saved, read_kept),
        in_use=in_use,
        refusals=Refusals(
            left=context.mapping.refuse_left,
            own=partial(_refuse_own, context.settings.installation),
        ),
    )


def _refuse_own(installation: str, topic: str) -> None:
    """Raise TopicRefused for a topic of the installation's own records."""
    if is_own_topic(topic, installation):
        raise own_records_mixed(topic)


def _note_past(
    context: InstanceContext, feeders: TopicFeeders, saved: PositionRecord | None
) -> None:
    """Remember the tables that earlier relays have read, and note the formats of the topics that
    this instance feeds: a newcomer in another format waits, and not this instance.
    """
    instance = context.instance
    context.stats.tables.update(tables_named(context.notes.tables_of(instance.name)))
    published = PublishedPartitioning.of(saved)
    feeders.note_formats(published.formats)
    feeders.note_statements(
        {topic: of for topic, of in published.formats.items() if topic not in published.partitions}
    )

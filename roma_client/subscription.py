"""A subscription to the changes of a logical table."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from roma_client.async_changes import AsyncChanges, Cancelled, OneThread
from roma_client.beginning import beginning_of, unmoved_topic
from roma_client.changes import Changes
from roma_client.errors import ClientError, UnknownTag, UsageError
from roma_client.handling import Handler, Handling, Retry, WorkerPool, run_here
from roma_client.kafka.dead_letters import DeadLetterTopic, store_corrupt
from roma_client.kafka.feed import Feed, OnCorrupt
from roma_client.kafka.options import FeedOptions, Start
from roma_client.log import log_event
from roma_client.metrics import Metrics
from roma_client.names import Answer, Directory, Table
from roma_client.names.watcher import NameWatcher, moved_from
from roma_client.opening import (
    ARGUMENTS_DECIDE,
    default_group,
    directory_of,
    metrics_of,
    refuse_owned,
)
from roma_client.records.change import Values
from roma_client.records.decoding import Reading
from roma_client.records.moved import Followed
from roma_client.records.record import STATEMENT_SUFFIX, ClaimReader
from roma_client.records.selection import Selection

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


@dataclass(eq=False)
class Subscription:
    """Delivers the changes of one logical table at least once, in order for each key.

    database, table   logical names
    tags              only rows with one of these tags; empty: all
    group             consumer group: clients of one group share the changes. Default:
                      `<user of the token>.<database>.<table>`
    admin, token      address of the admin, and a token with the role viewer; default: the
                      environment's ROMA_ADMIN and ROMA_TOKEN
    kafka             further settings of librdkafka: addresses, TLS, SASL
    start             where a group that has never read begins
    values            Python types by column type, or the relay's texts
    ddl               also deliver statements (`Operation.STATEMENT`)
    exclusive         one client of the group is active at a time; the others receive no changes
    workers           threads of `run()`; order per key is kept
    retry             how often `run()` calls a handler that raises
    dead_letters      topic of changes whose handler failed for good; default
                      `<group>.dead-letters`, None: the handler's error ends `run()`
    corrupt           what to do with a record that is no message of the relay, or whose claim is
                      gone
    claim_reader      returns the bytes at the URL of a claim; raises FileNotFoundError or
                      LookupError if the URL has no bytes
    idle_seconds      the iteration ends after this time without a change; None: it does not end
    topic             read this topic instead of the one of the mapping
    cache             folder of the admin's last answers
    registry          prometheus_client's registry for the metrics `roma_client_…`
    session_timeout_seconds
                      a client that sends no heartbeat for so long loses its partitions (Kafka
                      accepts 6 to 1800)
    refresh_seconds   how often the admin is asked whether the table moved
    moves             what to do when the mapping gives the table another topic: continue there,
                      or raise TableMoved
    move_seconds      time after a move until the former topic must be marked as ended; later,
                      TableMoved is raised
    removed_instances instances that never publish again: their markers are not expected
    """

    database: str
    table: str
    _: KW_ONLY
    tags: Sequence[str] = ()
    group: str | None = None
    admin: str | None = None
    token: str | None = field(default=None, repr=False)
    kafka: Mapping[str, Any] = field(default_factory=dict, repr=False)
    start: Start = "earliest"
    values: Values = "python"
    ddl: bool = False
    exclusive: bool = False
    workers: int = 1
    retry: Retry = field(default_factory=Retry)
    dead_letters: str | None = ""
    corrupt: Literal["stop", "dead_letter"] = "stop"
    claim_reader: ClaimReader | None = field(default=None, repr=False)
    idle_seconds: float | None = None
    topic: str | None = None
    cache: Path | str | None = None
    registry: "CollectorRegistry | None" = field(default=None, repr=False)
    session_timeout_seconds: float = 10
    refresh_seconds: float = 15
    moves: Literal["follow", "stop"] = "follow"
    move_seconds: float = 600
    removed_instances: Sequence[str] = ()

    def __post_init__(self) -> None:
        self._stack = ExitStack()
        self._opened: _Opened | None = None
        self._thread: OneThread | None = None
        self._cancelled: Cancelled = []
        if isinstance(self.tags, str):
            raise UsageError(f'`tags` must be a list: tags=["{self.tags}"].')
        if self.workers < 1 or self.retry.attempts < 1:
            raise UsageError("`workers` and `retry.attempts` must be at least 1.")
        refuse_owned(self.kafka, "the subscription", ARGUMENTS_DECIDE)

    def __enter__(self) -> Changes:
        """Open the subscription; it opens once.

        Raises UnknownTable, UnknownTag, NotPermitted, AdminUnreachable, AdminRefused,
        IncompatibleVersion, UsageError, TopicMissing, BrokerUnreachable, KafkaRefused.
        """
        if self._opened is not None:
            raise UsageError(
                "This subscription is open already.", "Create another subscription object."
            )
        with ExitStack() as stack:
            self._opened = self._open(stack)
            self._stack = stack.pop_all()
        return self._opened.changes

    def __exit__(self, *_: object) -> None:
        """Commit the acknowledgements, leave the group, and close."""
        try:
            self._stack.close()
        finally:
            self._opened = None

    async def __aenter__(self) -> AsyncChanges:
        """Open the subscription for `async for`. Raises what `with` raises."""
        self._thread, changes = await OneThread.opened(
            self.__enter__, self.__exit__, self._cancelled
        )
        return AsyncChanges(changes, self._thread)

    async def __aexit__(self, *_: object) -> None:
        assert self._thread is not None  # noqa: S101  # __aenter__ made it
        await self._thread.end(self.__exit__)

    def run(self, handler: Handler, *, ready: Callable[[Changes], None] | None = None) -> None:
        """Open the subscription and process changes by a function, until `changes.stop()` is
        called.

        A handler that raises an error is called again (`retry`); after that the change is written
        to the dead letter topic. `ready` receives the open changes, for example to stop them by a
        signal. Raises the errors of opening and of reading a subscription, and those of
        `Handling.process`.
        """
        with self as changes:
            opened = self._opened
            assert opened is not None  # noqa: S101  # `with` opened it
            letters = None if opened.letters is None else opened.letters.store
            handling = Handling(handler, self.retry, letters, opened.metrics, changes.wait)
            if ready is not None:
                ready(changes)
            if self.workers == 1:
                run_here(changes, handling)
            else:
                WorkerPool(changes, opened.feed, handling, self.workers).run()

    def _open(self, stack: ExitStack) -> "_Opened":
        directory = directory_of(self, self.topic)
        answer = directory.table(self.database, self.table)
        table = answer.tables[0]
        self._check_tags(table)
        group = self.group or default_group(answer, table.name)
        kafka = {**answer.kafka, **self.kafka}
        metrics = metrics_of(self.registry, group)
        letters = self._letters(kafka, group)
        options = self._feed_options(table, lambda: self._table(directory), group, kafka)
        feed = Feed(options, metrics, self._corrupt(letters, metrics))
        stack.enter_context(feed)
        watcher = NameWatcher(
            lambda: directory.ask_table(self.database, self.table),
            lambda newest: self._judge(feed, newest),
            None if self.topic else self.refresh_seconds,
        )
        stack.enter_context(watcher)
        return _Opened(Changes(feed, metrics, watcher, self.idle_seconds), feed, metrics, letters)

    def _check_tags(self, table: Table) -> None:
        """Raise UnknownTag for a tag that no message of the table can have.

        A service that names the topic reads the rest of it, whose tags the mapping may lack by now:
        there one known tag is enough.
        """
        wanted = frozenset(self.tags)
        known = wanted & table.tags
        if self.topic is None or not known:
            table.check_tags(wanted)
        elif wanted != known:
            unknown = ",".join(sorted(wanted - known))
            log_event(logging.WARNING, "tags_not_in_mapping", table=table.name, tags=unknown)

    def _judge(self, feed: Feed, newest: Answer) -> ClientError | None:
        """Return the error that an answer means: tags, and moves for `moves="stop"`."""
        (table,) = newest.tables
        if gone := sorted(frozenset(self.tags) - table.tags):
            return UnknownTag(
                f"Since a mapping edit no message of {table.name} has the tag {', '.join(gone)} "
                f"(set {newest.number}). Its tags: {', '.join(sorted(table.tags))}.",
                "Messages before the edit have the former tags. Read them with the former and the "
                f'new tags and topic="{feed.topic}" until only new ones come, then start with the '
                "new tags and without `topic`.",
            )
        moved = moved_from(newest, {table.name: feed.topic})
        if self.moves == "stop":
            return moved
        since = table.since.get(feed.topic)
        feed.hear(moved=moved is not None, since=0 if since is None else since.set)
        return None

    def _table(self, directory: Directory) -> Table:
        return directory.table(self.database, self.table).tables[0]

    def _feed_options(
        self, table: Table, ask: Callable[[], Table], group: str, kafka: Mapping[str, Any]
    ) -> FeedOptions:
        """Return what is read: a group reads on where its commits are, or stops there."""
        if self.topic is not None:
            options = self._options_at(self.topic, table, group, kafka)
            return replace(options, by_hand=table.name)
        if self.moves == "follow":
            return self._followed(ask, group, kafka)
        topic = unmoved_topic(kafka, group, table)
        return replace(self._options_at(topic, table, group, kafka), stays=table.name)

    def _followed(
        self, ask: Callable[[], Table], group: str, kafka: Mapping[str, Any]
    ) -> FeedOptions:
        table, (topic, departure, since, is_new), fresh_until = beginning_of(kafka, group, ask)
        gone = frozenset(self.removed_instances)
        had = {name: each.set for name, each in table.since.items()}
        followed = Followed(self.database, self.table, topic, gone=gone, since=since, had=had)
        if departure is not None:
            options = self._options_at(table.topic, table, group, kafka)
            return replace(options, follow=followed).moved(departure._replace(to=topic))
        options = replace(self._options_at(topic, table, group, kafka), follow=followed)
        if not is_new:
            return options
        again = partial(self._followed, ask, group, kafka)
        return replace(options, fresh_until=fresh_until, again=again)

    def _options_at(
        self, topic: str, table: Table, group: str, kafka: Mapping[str, Any]
    ) -> FeedOptions:
        selection = Selection.of_table(
            self.database, self.table, topic, frozenset(self.tags), statements=self.ddl
        )
        return FeedOptions(
            group,
            (topic, *(topic + STATEMENT_SUFFIX for _ in table.statement_topics if self.ddl)),
            selection,
            Reading(self.values, self.claim_reader),
            kafka,
            self.start,
            self.exclusive,
            self.session_timeout_seconds,
            move_seconds=self.move_seconds,
        )

    def _letters(self, kafka: Mapping[str, Any], group: str) -> DeadLetterTopic | None:
        if self.dead_letters is None:
            if self.corrupt == "dead_letter":
                raise UsageError(
                    '`corrupt="dead_letter"` needs a dead letter topic, and `dead_letters` is None.'
                )
            return None
        return DeadLetterTopic(kafka, self.dead_letters or f"{group}.dead-letters", group)

    def _corrupt(self, letters: DeadLetterTopic | None, metrics: Metrics) -> OnCorrupt | None:
        if self.corrupt == "stop" or letters is None:
            return None
        return partial(store_corrupt, letters, metrics)


@dataclass(frozen=True, slots=True)
class _Opened:
    changes: Changes
    feed: Feed
    metrics: Metrics
    letters: DeadLetterTopic | None

"""A subscription to whole source transactions of one instance."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from roma_client.async_changes import AsyncTransactions, Cancelled, OneThread
from roma_client.errors import ClientError, TransactionIncomplete, UsageError
from roma_client.kafka.options import FeedOptions, Start
from roma_client.kafka.transaction_feed import TransactionFeed
from roma_client.names import Answer, Table
from roma_client.names.watcher import NameWatcher, moved_from
from roma_client.opening import (
    ARGUMENTS_DECIDE,
    default_group,
    directory_of,
    metrics_of,
    refuse_owned,
)
from roma_client.records.assembler import Assembler, Partial
from roma_client.records.change import Values
from roma_client.records.decoding import Reading
from roma_client.records.record import ClaimReader
from roma_client.records.selection import Selection
from roma_client.transactions import Transactions

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


_MOVED: Final = (
    'Start again with former_topics=["{topic}"]: transactions then have their rows from both '
    "topics. Leave it out when the group has no lag in the former one."
)


@dataclass(eq=False)
class TransactionSubscription:
    """Delivers the source transactions of one instance as a whole, at least once, in the order of
    their commits.

    The instance needs `transaction.topic`. One client of the group is active at a time.

    instance           name of the instance
    tables             logical tables `database.table`, whose rows are delivered
    partial            a transaction that never arrives whole: raise TransactionIncomplete, or
                       deliver what is left with `is_whole=False`
    transaction_bytes  largest source transaction, in bytes of its messages; in memory it takes
                       about five times as much
    buffer_bytes       largest number of bytes of messages that the client reads ahead
    transaction_topic  topic of BEGIN and END; default: the admin's answer
    former_topics      topics that the tables had before a mapping edit: rows there are read too
    Other fields are those of Subscription.
    """

    instance: str
    tables: Sequence[str]
    _: KW_ONLY
    group: str | None = None
    admin: str | None = None
    token: str | None = field(default=None, repr=False)
    kafka: Mapping[str, Any] = field(default_factory=dict, repr=False)
    start: Start = "earliest"
    values: Values = "python"
    partial: Partial = "stop"
    transaction_bytes: int = 100_000_000
    buffer_bytes: int = 50_000_000
    claim_reader: ClaimReader | None = field(default=None, repr=False)
    idle_seconds: float | None = None
    transaction_topic: str | None = None
    former_topics: Sequence[str] = ()
    cache: Path | str | None = None
    registry: "CollectorRegistry | None" = field(default=None, repr=False)
    session_timeout_seconds: float = 10
    refresh_seconds: float = 15

    def __post_init__(self) -> None:
        self._stack: ExitStack | None = None
        self._thread: OneThread | None = None
        self._cancelled: Cancelled = []
        if isinstance(self.tables, str) or not self.tables:
            raise UsageError('`tables` must be a list of logical tables: tables=["shop.orders"].')
        if isinstance(self.former_topics, str):
            raise UsageError(
                f'`former_topics` must be a list: former_topics=["{self.former_topics}"].'
            )
        if wrong := [each for each in self.tables if "." not in each]:
            raise UsageError(f"`tables` has names without a database: {', '.join(wrong)}.")
        refuse_owned(self.kafka, "the subscription", ARGUMENTS_DECIDE)

    def __enter__(self) -> Transactions:
        """Open the subscription; it opens once.

        Raises UnknownTable, NotPermitted, AdminUnreachable, AdminRefused, IncompatibleVersion,
        UsageError, TopicMissing, BrokerUnreachable, KafkaRefused.
        """
        if self._stack is not None:
            raise UsageError(
                "This subscription is open already.", "Create another subscription object."
            )
        with ExitStack() as stack:
            transactions = self._open(stack)
            self._stack = stack.pop_all()
        return transactions

    def __exit__(self, *_: object) -> None:
        """Commit what is acknowledged, leave the group, and close."""
        if self._stack is not None:
            self._stack.close()
        self._stack = None

    async def __aenter__(self) -> AsyncTransactions:
        """Open the subscription for `async for`. Raises what `with` raises."""
        self._thread, transactions = await OneThread.opened(
            self.__enter__, self.__exit__, self._cancelled
        )
        return AsyncTransactions(transactions, self._thread)

    async def __aexit__(self, *_: object) -> None:
        assert self._thread is not None  # noqa: S101  # __aenter__ made it
        await self._thread.end(self.__exit__)

    def _open(self, stack: ExitStack) -> Transactions:
        directory = directory_of(self)
        answer = self._answer(directory.table)
        group = self.group or default_group(answer, f"{self.instance}.transactions")
        metrics = metrics_of(self.registry, group)
        places = {each.name: each.topic for each in answer.tables}
        reports = (self.transaction_topic or self._topic_of(answer.tables), 0)
        assembler = Assembler(
            self.instance,
            frozenset(places),
            reports,
            partial=self.partial,
            transaction_bytes=self.transaction_bytes,
        )
        options = self._options(answer, places, group, reports[0])
        feed = TransactionFeed(options, metrics, assembler, reports)
        stack.enter_context(feed)
        watcher = NameWatcher(
            lambda: self._answer(directory.ask_table),
            lambda newest: self._judge(newest, places, reports[0]),
            self.refresh_seconds,
        )
        stack.enter_context(watcher)
        return Transactions(
            feed,
            assembler,
            watcher,
            metrics,
            buffer_bytes=self.buffer_bytes,
            idle_seconds=self.idle_seconds,
        )

    def _judge(self, newest: Answer, places: Mapping[str, str], reports: str) -> ClientError | None:
        """Return the error that the admin's newest answer means."""
        if moved := moved_from(newest, places, _MOVED):
            return moved
        named = self._topics_of(newest.tables)
        if self.transaction_topic is None and reports not in named:
            return TransactionIncomplete(
                f"The admin names {', '.join(named) or 'no topic'} as topic of transactions of "
                f"{self.instance} since set {newest.number}, and this client reads {reports}.",
                f'Read what is left with transaction_topic="{reports}" and `idle_seconds`, then '
                "start without `transaction_topic`.",
            )
        return None

    def _answer(self, ask: Callable[[str, str], Answer]) -> Answer:
        """Return what the admin says of all tables. Raises what `ask` raises."""
        answers = [ask(*each.split(".", 1)) for each in self.tables]
        return replace(answers[0], tables=tuple(each.tables[0] for each in answers))

    def _topic_of(self, tables: Sequence[Table]) -> str:
        """Return the topic of transactions. Raises UsageError."""
        match self._topics_of(tables):
            case [topic]:
                return topic
            case _:
                known = sorted({name for each in tables for name in each.transaction_topics})
                raise UsageError(
                    f"Instance {self.instance} publishes no BEGIN and END of these tables. "
                    f"Instances with these tables: {', '.join(known) or 'none'}.",
                    "Give the name of an instance with these tables, and set its "
                    "`transaction.topic`.",
                )

    def _topics_of(self, tables: Sequence[Table]) -> list[str]:
        topics = {each.transaction_topics.get(self.instance) for each in tables}
        return sorted(each for each in topics if each)

    def _options(
        self, answer: Answer, places: Mapping[str, str], group: str, reports: str
    ) -> FeedOptions:
        return FeedOptions(
            group,
            # Rows first: see Assembler.begin.
            (*sorted({*places.values(), *self.former_topics}), reports),
            # A row that is in two of the topics counts once in its transaction.
            Selection(places.__contains__, {} if self.former_topics else places),
            Reading(self.values, self.claim_reader),
            {**answer.kafka, **self.kafka},
            self.start,
            exclusive=True,
            session_timeout_seconds=self.session_timeout_seconds,
        )

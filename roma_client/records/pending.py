"""Collects the records of a source transaction until the transaction is complete."""

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from roma_client.records.ack_book import Receipt
from roma_client.records.change import Change
from roma_client.records.order_guard import Partition
from roma_client.records.transaction import Report, Transaction, TransactionId


class Moment(NamedTuple):
    """The place of a transaction in the order of its instance. A later transaction has a greater
    moment.

    time    execute time in Unix milliseconds; UNKNOWN_TIME in the commits of former releases
    before  last execute position before the transaction. It can be lower than that of an earlier
            transaction if the instance lost its position record between the two
    """

    time: int
    before: int

    def is_done(self, done: "Moment") -> bool:
        """Return whether a transaction of this moment is the acknowledged one `done`, or an older
        one.
        """
        return self.before <= done.before if done.time == UNKNOWN_TIME else self <= done


UNKNOWN_TIME: Final = -1
NONE_DONE: Final = Moment(UNKNOWN_TIME, -1)


class Rows(NamedTuple):
    """The rows of one record.

    id       id of their source transaction; None for rows that belong to no transaction
    changes  changes of subscribed tables
    size     size of the record in bytes
    time     execute time of its first row in Unix milliseconds
    """

    partition: Partition
    id: TransactionId | None
    changes: list[Change]
    size: int
    receipt: Receipt
    time: int


class ReadyTransaction(NamedTuple):
    """One transaction that is ready for the service, or records that are skipped.

    transaction  the transaction; None for skipped records: those before the start of the group
    receipts     acknowledge its records
    done         its moment; None for rows that belong to no transaction
    """

    transaction: Transaction | None
    receipts: tuple[Receipt, ...]
    done: Moment | None = None


@dataclass(eq=False)
class PendingTransaction:
    """A source transaction of which some records have been read.

    moment       its rank in the order of its instance
    rows         partition → the rows read there
    seen         logical table → number of rows that were read
    receipts     receipts of its records
    size         size of its records in bytes
    begin, end   its BEGIN and END messages; None: not read yet
    end_offset   offset of the END message; None: not read yet
    is_queued    whether it is in the queue of transactions to deliver
    is_given_up  whether its missing parts are no longer expected
    """

    id: TransactionId
    moment: Moment
    rows: dict[Partition, list[Change]] = field(default_factory=dict)
    positions: dict[int, int] = field(default_factory=dict)
    """Execute position of each row → its number within its partition."""
    seen: Counter[str] = field(default_factory=Counter)
    receipts: list[Receipt] = field(default_factory=list)
    size: int = 0
    begin: Report | None = None
    end: Report | None = None
    end_offset: int | None = None
    is_queued: bool = False
    is_given_up: bool = False

    def add(self, rows: Rows) -> None:
        """Add the rows of a record. A row that was added before is not added again.

        An at-least-once relay may send a row twice. A relay that sends a message for each tag sends
        it in several messages: then their tags are combined.
        """
        own = self.rows.setdefault(rows.partition, [])
        if not own:
            self.receipts.append(rows.receipt)
        for change in rows.changes:
            number = self.positions.get(change.order.execute_position)
            if number is None:
                self.positions[change.order.execute_position] = len(own)
                self.seen[f"{change.database}.{change.table}"] += 1
                own.append(change)
            elif number < len(own) and own[number].order == change.order:  # a message for each tag
                tags = dict.fromkeys((*own[number].tags, *change.tags))
                own[number] = replace(own[number], tags=tuple(tags))
        self.size += rows.size

    def lacks(self, tables: AbstractSet[str]) -> Mapping[str, int]:
        """Return the number of missing rows for each subscribed table.

        The result is empty before the END message was read, because that has the counts.
        """
        counts = {} if self.end is None else self.end.counts or {}
        return {
            table: counts[table] - self.seen[table]
            for table in tables & counts.keys()
            if counts[table] > self.seen[table]
        }

    def ready(self, *, is_whole: bool = True) -> ReadyTransaction:
        """Return the transaction with its receipts; `is_whole` False: it is incomplete and stays
        so.
        """
        report = self.end or self.begin
        changes = sorted((c for some in self.rows.values() for c in some), key=lambda c: c.order)
        if report is None and not changes:
            return self.skipped()
        counts = self.seen if self.end is None else self.end.counts or {}
        transaction = Transaction(
            self.id.text,
            self.id.instance,
            "" if report is None else report.source,
            changes[0].transaction_id if report is None else report.gtid,
            tuple(changes),
            dict(counts),
            None if report is None else report.begin,
            None if report is None else report.end,
            changes[0].execute_time if report is None else report.execute_time,
            is_whole,
        )
        return ReadyTransaction(transaction, tuple(self.receipts), self.moment)

    def skipped(self) -> ReadyTransaction:
        """Return only the receipts, for a transaction that is not delivered."""
        return ReadyTransaction(None, tuple(self.receipts), self.moment)


def loose_rows(rows: Rows, instance: str) -> ReadyTransaction:
    """Return rows of an instance that belong to no source transaction, as a transaction without an
    id.
    """
    first = rows.changes[0]
    counts = Counter(f"{each.database}.{each.table}" for each in rows.changes)
    transaction = Transaction(
        id=None,
        instance=instance,
        source="",
        gtid=None,
        changes=tuple(rows.changes),
        counts=dict(counts),
        begin=None,
        end=None,
        execute_time=first.execute_time,
    )
    return ReadyTransaction(transaction, (rows.receipt,))

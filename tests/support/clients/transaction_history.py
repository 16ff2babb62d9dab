"""Histories of an instance as Kafka has them, and a client that reads them with crashes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from roma_client.records.ack_book import AckBook
from roma_client.records.assembler import Assembler
from roma_client.records.change import Change, Operation, Order, Place
from roma_client.records.order_guard import Partition
from roma_client.records.pending import NONE_DONE, ReadyTransaction, Rows
from roma_client.records.record import Record
from roma_client.records.transaction import Report, report_of, transaction_id

REPORTS: Final[Partition] = ("tx", 0)
TABLES: Final = frozenset({"shop.a", "shop.b"})
ROWS: Final[tuple[Partition, ...]] = (("shop", 0), ("shop", 1), ("other", 0))

TIME: Final = 1_767_225_609_000
"""Execute time, in Unix ms."""

Stored: TypeAlias = "StoredRows | Report"


@dataclass(frozen=True)
class StoredRows:
    """One record of rows. `id` None: of no transaction."""

    id: str | None
    changes: tuple[Change, ...]

    @property
    def time(self) -> int:
        """Execute time of its first row."""
        return self.changes[0].order.execute_time


@dataclass
class Log:
    """The records in Kafka. `expected`: the transaction ids with their rows, in the order of
    commits. `time`: execute time of the next transactions, in Unix ms.
    """

    records: dict[Partition, list[Stored]] = field(
        default_factory=lambda: {each: [] for each in (*ROWS, REPORTS)}
    )
    expected: dict[str, list[int]] = field(default_factory=dict)
    position: int = 100
    time: int = TIME
    loose_rows: int = 0

    def transaction(
        self,
        rows: Sequence[tuple[int, str]],
        *,
        instance: str = "i",
        repeated: bool = False,
        end: bool = True,
        missing: int = 0,
    ) -> str:
        """Append a transaction: for each row the number of its partition, and its table.

        `repeated`: the rows twice, as an at-least-once relay sends them after a crash. `missing`:
        this number of rows is counted in END and not sent.
        """
        before = self.position
        id_ = f"{instance}:0-1-7:{before}"
        self.records[REPORTS].append(report(id_, time=self.time))
        stored = []
        for number, table in rows:
            self.position += 1
            one = StoredRows(id_, (made_change(table, self.position, time=self.time),))
            stored.append((ROWS[number], one))
        for partition, each in stored[: len(stored) - missing] * (2 if repeated else 1):
            self.records[partition].append(each)
        counts = {table: sum(t == table for _, t in rows) for _, table in rows}
        if end:
            self.records[REPORTS].append(report(id_, counts, self.time))
        if repeated:
            self.records[REPORTS] += [
                report(id_, time=self.time),
                report(id_, counts, self.time),
            ]
        wanted = [before + 1 + at for at, (_, table) in enumerate(rows) if table in TABLES]
        if instance == "i" and wanted and end and not missing:
            self.expected[id_] = wanted
        self.position += 1
        return id_

    def loose(self, number: int) -> None:
        """Append a record with a row of no transaction."""
        self.loose_rows += 1
        changes = (
            replace(made_change("shop.a", self.position, time=self.time), key=str(self.loose_rows)),
        )
        self.records[ROWS[number]].append(StoredRows(None, changes))


def made_change(
    table: str, position: int, instance: str | None = None, *, time: int = TIME
) -> Change:
    """A row change."""
    database, name = table.split(".")
    return Change(
        database=database,
        table=name,
        operation=Operation.INSERT,
        key=None,
        key_columns=(),
        order=Order(time, position),
        changed=frozenset(),
        tags=(),
        transaction_id=None,
        source=None,
        real=None,
        instance=instance,
        snapshot=False,
        history=None,
        unknown=frozenset(),
        sql=None,
        event_time=datetime(2026, 1, 1, tzinfo=UTC),
        place=Place("", 0, 0),
        types={},
        before_texts=None,
        after_texts={},
    )


def report(id_: str, counts: dict[str, int] | None = None, time: int = TIME) -> Report:
    """Return a BEGIN, or an END if counts are given, as a client decodes it from its message."""
    is_end = counts is not None
    message: dict[str, Any] = {
        "status": "END" if is_end else "BEGIN",
        "id": id_,
        "source": "",
        "gtid": "0-1-7",
        "server_id": 1,
        "file": "bin.1",
        "position": 4,
        "end_file": "bin.1" if is_end else None,
        "end_position": 9 if is_end else None,
        "execute_time": time,
        "data_collections": [
            {"data_collection": table, "event_count": count}
            for table, count in (counts or {}).items()
        ],
    }
    found = report_of(Record("tx", 0, 0, None, json.dumps(message).encode(), ()))
    assert found is not None
    return found


class Client:
    """Reads a log as the feed does: acknowledgements are committed offsets, and it may crash."""

    def __init__(self, log: Log, starts: dict[Partition, int] | None = None, **more: Any) -> None:
        self.log = log
        self.committed = dict.fromkeys(log.records, 0) | (starts or {})
        self.assembler = Assembler("i", TABLES, REPORTS, **more)
        self.seen: list[ReadyTransaction] = []
        self.committed_done = NONE_DONE
        self.restart(frozenset(each for each, at in (starts or {}).items() if at > 0))

    def restart(self, cut: frozenset[Partition] = frozenset()) -> None:
        """Begin at the committed offsets, with nothing in memory."""
        self.at = dict(self.committed)
        self.book = AckBook()
        for partition, offset in self.at.items():
            self.book.assign(partition, offset)
        self._done = self.committed_done
        self.assembler.begin(cut, self._done)
        self._open: ReadyTransaction | None = None

    def readable(self) -> list[Partition]:
        """The partitions with more records."""
        return [each for each, at in self.at.items() if at < len(self.log.records[each])]

    def read(self, partition: Partition) -> None:
        """Give the assembler the next record of a partition."""
        offset = self.at[partition]
        record = self.log.records[partition][offset]
        self.at[partition] += 1
        receipt = self.book.deliver(partition, offset, 1)
        if isinstance(record, Report):
            kept = self.assembler.report(record, receipt)
        else:
            id_ = None if record.id is None else transaction_id(record.id)
            wanted = [c for c in record.changes if f"{c.database}.{c.table}" in TABLES]
            kept = self.assembler.rows(Rows(partition, id_, wanted, 10, receipt, record.time))
        if not kept:
            assert self.book.ack(receipt)

    def process(self, *, most: int = 1000, commit: bool = True) -> None:
        """Process at most `limit` complete transactions; each acknowledges the one before it.

        `commit`: commit the acknowledged offsets. Without a limit, the last transaction is
        acknowledged too.
        """
        for _ in range(min(most, len(self.assembler.ready))):
            self._acknowledge()
            self._open = self.assembler.ready.popleft()
            self.seen.append(self._open)
        if commit:
            if most >= len(self.seen):
                self._acknowledge()
            self.committed, self.committed_done = self.book.committable(), self._done

    def _acknowledge(self) -> None:
        if self._open is not None:
            assert all(self.book.ack(each) for each in self._open.receipts)
            self._done = max(self._done, self._open.done or NONE_DONE)
        self._open = None

    def read_all(self, choose: Callable[[list[Partition]], Partition] | None = None) -> None:
        """Read everything, one partition after the other, or as `choose` says; process it."""
        while partitions := self.readable():
            self.read(partitions[0] if choose is None else choose(partitions))
            self.process()

    def transactions(self) -> list[tuple[str, list[int]]]:
        """Return the id and the row positions of each transaction that was delivered whole."""
        return [
            (t.id, [each.order.execute_position for each in t.changes])
            for t, *_ in self.seen
            if t is not None and t.id is not None and t.changes and t.is_whole
        ]

"""What identifies a transaction: its first changes, the same before and after decoding, and nothing
that a replica writes otherwise.
"""

from dataclasses import dataclass
from typing import Final

import pytest

from relay.model.change import (
    Operation,
    PreparedRows,
    RawRows,
    RowsEvent,
    Statement,
    StreamItem,
    TransactionBegin,
    TransactionEnd,
    XaAction,
    XaStep,
)
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.records.last_transaction import (
    MOST_CHANGES,
    LastTransactionTracker,
    change_bytes,
    changes_digest,
    last_changed,
)
from relay.model.table import TableId, TableMap

_AT: Final = BinlogPosition("binlog.000001", 400)
_TABLE: Final = TableMap(TableId("d", "t"), ())


@dataclass(frozen=True)
class Shape:
    body: bytes
    type_code: int = 30
    time_s: int = 7

    @property
    def raw(self) -> RawRows:
        return RawRows(b"", self.body, self.type_code, self.time_s, _AT, False)

    @property
    def decoded(self) -> RowsEvent:
        operation = {30: Operation.INSERT, 31: Operation.UPDATE, 23: Operation.INSERT}[
            self.type_code
        ]
        return RowsEvent(operation, _TABLE, (), self.time_s, _AT, len(self.body), self.body)


ONE: Final = Shape(b"\x01\0\0\0\0\0\x01\0\x02\0\x01\xff\0one")


def begin(number: int) -> TransactionBegin:
    return TransactionBegin(_AT._replace(offset=number * 100), f"0-1-{number}", None, 7)


def end(number: int) -> TransactionEnd:
    return TransactionEnd(
        _AT._replace(offset=number * 100 + 90), f"0-1-{number}", SourceIdentity("", 1, 0)
    )


def test_a_row_event_is_the_same_before_and_after_decoding_and_while_it_is_prepared() -> None:
    known = change_bytes(ONE.raw)
    assert known is not None
    assert change_bytes(ONE.decoded) == change_bytes(PreparedRows(ONE.raw, _TABLE)) == known


def test_the_number_of_the_table_does_not_count() -> None:
    assert change_bytes(Shape(b"\x77\x01" + ONE.body[2:]).raw) == change_bytes(ONE.raw)


@pytest.mark.parametrize(
    "other",
    [
        Shape(ONE.body[:-1] + b"f"),
        Shape(ONE.body, 31),
        Shape(ONE.body, time_s=8),
        Shape(ONE.body[:-1]),
    ],
    ids=str,
)
def test_rows_operation_and_second_count(other: Shape) -> None:
    assert change_bytes(other.raw) != change_bytes(ONE.raw)


def test_borders_are_no_changes_and_statements_and_xa_are() -> None:
    assert change_bytes(begin(1)) is None
    assert change_bytes(end(1)) is None
    statement = Statement("drop  table t", "d", 7, _AT)
    assert change_bytes(statement) == change_bytes(statement._replace(sql="DROP TABLE IF EXISTS t"))
    assert change_bytes(statement) != change_bytes(statement._replace(header_time_s=8))
    assert change_bytes(XaStep(XaAction.PREPARE, "x", _AT)) != change_bytes(
        XaStep(XaAction.PREPARE, "y", _AT)
    )


def test_changes_are_not_joined() -> None:
    assert changes_digest([b"ab", b"c"]) != changes_digest([b"a", b"bc"])


@pytest.mark.parametrize("rows", [1, MOST_CHANGES, MOST_CHANGES + 5])
def test_the_newest_transaction_with_changes_is_the_last_one_in_both_ways(rows: int) -> None:
    many = [Shape(ONE.body + bytes([number])).decoded for number in range(rows)]
    items: list[StreamItem] = [
        begin(1),
        ONE.decoded,
        end(1),
        begin(2),
        *many,
        end(2),
        begin(3),
        end(3),
    ]
    tracker = LastTransactionTracker()
    for item in items:
        tracker.take(item)
    changed = last_changed(items, 0, len(items))
    assert changed is not None
    assert changed[0] == begin(2)
    assert tracker.last is not None
    assert (tracker.last.begin, tracker.last.gtid) == (begin(2).position, "0-1-2")
    assert tracker.last.digest == changes_digest(changed[1])
    assert len(changed[1]) == min(rows, MOST_CHANGES)
    tracker.take(begin(4))
    tracker.take(ONE.decoded)  # not whole yet
    assert tracker.last.gtid == "0-1-2"
    assert last_changed(items, len(items) - 2, len(items)) is None

"""The entries of a batch: changes grouped by row event, and marks around each transaction."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import Final

import structlog

from canal_server.entries.event import mark_entry, rows_entry, statement_entry
from canal_server.wire import EntryKind
from roma_client.records.change import Change, Operation

_log = structlog.stdlib.get_logger(__name__)

_STATEMENT: Final = None
"""Transaction of a statement: Canal puts no marks around DDL."""


def entries_of(changes: Sequence[Change], *, marks: bool) -> list[bytes]:
    """Return the entries of these changes, in their order.

    Neighbouring changes of one row event become one entry. `marks`: entries TRANSACTIONBEGIN and
    TRANSACTIONEND enclose neighbouring changes of one transaction. A delete of which only the key
    is known is logged and has no entry, because Canal's columns need names, and a client could
    delete every row. Such deletes occur only with `deletes_without_columns = "skip"`.
    """
    told = [each for each in changes if not each.is_key_only]
    for each in changes:
        if each.is_key_only:
            _log.warning(
                "delete_without_columns",
                table=f"{each.database}.{each.table}",
                topic=each.place.topic,
                partition=each.place.partition,
                offset=each.place.offset,
            )
    return [each for entry in _transactions(told, marks=marks) for each in entry]


def _transactions(changes: Sequence[Change], *, marks: bool) -> Iterator[list[bytes]]:
    for transaction, group in groupby(changes, _transaction):
        members = list(group)
        entries = list(_events(members))
        if not marks or transaction is _STATEMENT:
            yield entries
            continue
        first, last = members[0], members[-1]
        yield [
            mark_entry(EntryKind.TRANSACTION_BEGIN, first),
            *entries,
            mark_entry(EntryKind.TRANSACTION_END, last),
        ]


def _events(changes: Sequence[Change]) -> Iterator[bytes]:
    """Yield an entry for each row event.

    Without the binlog coordinates, each row is an entry: neighbours may be of two events.
    """
    rows: list[Change] = []
    for each in changes:
        if rows and _event(rows[-1]) != _event(each):
            yield rows_entry(rows)
            rows = []
        if each.operation is Operation.STATEMENT:
            yield statement_entry(each)
        elif each.source is None:
            yield rows_entry([each])
        else:
            rows.append(each)
    if rows:
        yield rows_entry(rows)


def _transaction(change: Change) -> Hashable:
    """Return the fields that all changes of one source transaction share; None for a statement."""
    if change.operation is Operation.STATEMENT:
        return _STATEMENT
    return change.instance, change.transaction_id, change.order.execute_time, change.snapshot


def _event(change: Change) -> Hashable:
    """Return the fields that all rows of one event share."""
    return change.database, change.table, change.operation, change.source, change.event_time

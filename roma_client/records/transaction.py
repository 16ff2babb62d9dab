"""One source transaction as a service receives it, and the messages that announce it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from roma_client.errors import CorruptMessage
from roma_client.records.change import Change, SourcePosition
from roma_client.records.record import UNREADABLE, Record

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ID: Final = re.compile(r"([^:/]+)[:/].*:([0-9]+)", re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Transaction:
    """The changes of one source transaction, in the order in which the source made them.

    Some rows belong to no source transaction: copied rows (snapshot), and rows that were published
    before the instance wrote BEGIN and END messages. Those of one record are delivered together as
    a Transaction without `id`.

    id            id of the transaction; None for rows that belong to none
    instance      name of the instance
    source        name of the source in a group; otherwise empty
    gtid          GTID; None if the source has none
    changes       rows of the subscribed tables
    counts        logical table → number of published rows, also of tables that are not subscribed;
                  without the END message only those in `changes`
    begin, end    binlog coordinates; None if they are unknown
    execute_time  time at which the source committed, in UTC
    is_whole      False for the remainder of a transaction that never arrives completely; only with
                  `partial="yield"`
    """

    id: str | None
    instance: str
    source: str
    gtid: str | None
    changes: tuple[Change, ...]
    counts: Mapping[str, int]
    begin: SourcePosition | None
    end: SourcePosition | None
    execute_time: datetime
    is_whole: bool = True


class TransactionId(NamedTuple):
    """The id of a source transaction, and the two parts of its text.

    text      the whole id
    instance  name of the instance
    before    last execute position before the transaction; it rises from transaction to transaction
    """

    text: str
    instance: str
    before: int


class Report(NamedTuple):
    """A BEGIN or END message of a transaction.

    counts  logical table → number of published rows; None for BEGIN
    """

    id: TransactionId
    source: str
    gtid: str | None
    begin: SourcePosition
    end: SourcePosition | None
    execute_time: datetime
    counts: Mapping[str, int] | None

    @property
    def is_end(self) -> bool:
        """Return whether this is an END message; otherwise it is a BEGIN message."""
        return self.counts is not None


def transaction_id(text: str) -> TransactionId:
    """Return the transaction id in a header or a message. Raises ValueError for another text."""
    match = _ID.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not the id of a transaction")
    return TransactionId(text, match[1], int(match[2]))


def report_of(record: Record) -> Report | None:
    """Return the BEGIN or END message in a record; None for a tombstone or a message of another
    kind.

    Raises CorruptMessage for a record that the relay did not make.
    """
    if record.value is None:
        return None
    try:
        message = json.loads(record.value)
        return _report(message) if message["status"] in {"BEGIN", "END"} else None
    except UNREADABLE as exc:
        raise CorruptMessage(
            f"Record {record.offset} of {record.topic}, partition {record.partition}, is neither "
            f"BEGIN nor END of a transaction: {type(exc).__name__}: {exc}."
        ) from exc


def _report(message: Mapping[str, Any]) -> Report:
    server, is_end = int(message["server_id"]), message["status"] == "END"
    tables = message["data_collections"] if is_end else ()
    return Report(
        transaction_id(message["id"]),
        message["source"],
        message["gtid"] or None,
        SourcePosition(server, message["file"], message["position"]),
        SourcePosition(server, message["end_file"], message["end_position"]) if is_end else None,
        _EPOCH + timedelta(milliseconds=message["execute_time"]),
        {each["data_collection"]: int(each["event_count"]) for each in tables} if is_end else None,
    )

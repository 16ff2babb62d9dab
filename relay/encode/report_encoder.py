"""Encodes the values of BEGIN, END and heartbeat messages.

BEGIN and END have the fields of Debezium's transaction metadata: `status`, `id`, `event_count`,
`data_collections` and `ts_ms` (Debezium documentation, "Transaction metadata").
"""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from relay.envelope import order_text
from relay.model.change import TransactionBegin
from relay.model.positions.position import BinlogPosition, OrderPair, SourcePosition
from relay.model.records.transaction_report import TransactionReport


@dataclass(frozen=True, slots=True)
class ReportedTransaction:
    """A source transaction with a published row.

    id            its id in messages
    instance      name of the instance
    source        name of the source in a group, else ""
    server_id     server of its first event
    begin         its first event
    execute_time  time of all its rows, Unix milliseconds
    """

    id: str
    instance: str
    source: str
    server_id: int
    begin: TransactionBegin
    execute_time: int


def encode_begin(transaction: ReportedTransaction, publish_time_ms: int) -> bytes:
    """Return the value of a BEGIN message. Fields that are unknown before the end are null."""
    counts = {"event_count": None, "data_collections": None}
    return _value("BEGIN", transaction, counts, _bounds(None, None), publish_time_ms)


def encode_end(
    transaction: ReportedTransaction,
    report: TransactionReport,
    end: BinlogPosition,
    publish_time_ms: int,
) -> bytes:
    """Return the value of an END message; `end` is the binlog position after the transaction."""
    counts = {
        "event_count": report.number,
        "data_collections": [
            {
                "data_collection": str(table),
                "event_count": number,
                "database": table.database,
                "table": table.table,
            }
            for table, number in report.by_table()
        ],
    }
    return _value("END", transaction, counts, _bounds(report, end), publish_time_ms)


def encode_heartbeat(
    instance: str,
    positions: Mapping[str, SourcePosition],
    order: OrderPair,
    source_time_ms: int,
    publish_time_ms: int,
) -> bytes:
    """Return the value of a heartbeat.

    positions       position of each source by name; the name of a single source is ""
    order           order key of the last change
    source_time_ms  commit time of the newest transaction, Unix milliseconds; 0 if unknown
    """
    sources = [
        {
            "source": name,
            "server_id": each.identity.server_id,
            "file": each.binlog.file,
            "position": each.binlog.offset,
            "gtid_set": each.gtid_set,
        }
        for name, each in positions.items()
    ]
    return orjson.dumps(
        {
            "status": "HEARTBEAT",
            "instance": instance,
            "sources": sources,
            "order": _text(order),
            "source_ts_ms": source_time_ms or None,
            "relay_ts_ms": publish_time_ms,
        }
    )


def report_key(instance: str, transaction: str = "") -> bytes:
    """Return the key of a BEGIN or END message; with an empty `transaction`, the key of a
    heartbeat.
    """
    return orjson.dumps([instance, transaction] if transaction else [instance])


def _value(
    status: str,
    transaction: ReportedTransaction,
    counts: Mapping[str, object],
    bounds: Mapping[str, object],
    publish_time_ms: int,
) -> bytes:
    begin = transaction.begin
    return orjson.dumps(
        {
            "status": status,
            "id": transaction.id,
            **counts,
            "ts_ms": begin.change_time_ms,
            "instance": transaction.instance,
            "source": transaction.source,
            "server_id": transaction.server_id,
            "gtid": begin.gtid,
            "file": begin.position.file,
            "position": begin.position.offset,
            "execute_time": transaction.execute_time,
            **bounds,
            "relay_ts_ms": publish_time_ms,
        }
    )


def _bounds(report: TransactionReport | None, end: BinlogPosition | None) -> dict[str, object]:
    return {
        "first_order": None if report is None else _text(report.first),
        "last_order": None if report is None else _text(report.last),
        "end_file": None if end is None else end.file,
        "end_position": None if end is None else end.offset,
    }


def _text(order: OrderPair) -> str:
    return order_text(order.execute_time, order.execute_position)

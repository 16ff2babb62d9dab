"""The work of one Spark task: writes its part of a batch, or reads its part of a table.

It runs on executors.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson

from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.hbase.cells import ORDER, UPDATE_INFO, Change, Stored, change_in
from spark_jobs.hbase.connection import idl
from spark_jobs.hbase.gateway import Gateway, rows_of
from spark_jobs.hbase.guards import GUARDS, Row, cells_at
from spark_jobs.hbase.row_key import key_values, row_key

Region: TypeAlias = tuple[bytes, bytes]  # first row key, and the one after the last; empty: no end
StoredRow: TypeAlias = tuple[bytes, Change]
ChangeRow: TypeAlias = tuple[str, str, int, int, bool, dict[str, str | None], None]
_BYTES_PER_CALL: Final = 4 << 20  # the gateway holds a call in memory several times
_ROWS_PER_SCAN: Final = 1000


@dataclass(slots=True)
class _Waiting:
    """Rows of one table that wait for their call."""

    rows: list[Row] = field(default_factory=list)
    bytes: int = 0


def write_changes(
    settings: HBaseSettings, names: Mapping[str, bytes], task: int, lines: Iterable[str]
) -> Iterator[tuple[str, int]]:
    """Write changes, and yield (table, rows written) for each call.

    names  logical table → its HBase name
    task   number of the task; selects the first gateway
    lines  changes as JSON with the fields table, key, order, deleted, data

    Raises HBaseUnreachable and HBaseRefused.
    """
    guard = GUARDS[settings.guard]
    waiting: dict[str, _Waiting] = {}
    with Gateway(settings, task) as gateway:
        for line in lines:
            table, row = _row(orjson.loads(line), settings.salt_buckets)
            mine = waiting.setdefault(table, _Waiting())
            mine.rows.append(row)
            mine.bytes += len(line)
            if len(mine.rows) >= settings.rows_per_call or mine.bytes >= _BYTES_PER_CALL:
                yield table, guard(gateway, names[table], waiting.pop(table).rows)
        for table, left in waiting.items():
            yield table, guard(gateway, names[table], left.rows)


def regions_of(locations: Iterable[Any]) -> list[Region]:
    """Return the start and end key of each region of a table, once for each region.

    HBase lists each replica of a region as a separate entry. Entries with a `replicaId` other than
    0 are dropped.
    """
    found = (each.regionInfo for each in locations)
    return [(each.startKey or b"", each.endKey or b"") for each in found if not each.replicaId]


def read_region(settings: HBaseSettings, name: bytes, region: Region) -> Iterator[StoredRow]:
    """Yield the rows in one region of the HBase table `name`, with their keys. Deleted rows are
    included.

    Rows that the jobs did not write are omitted.
    """
    for row, cells in _stored_rows(settings, name, region):
        if change := change_in(cells):
            yield row, change


def _stored_rows(
    settings: HBaseSettings, name: bytes, region: Region
) -> Iterator[tuple[bytes, Sequence[Stored]]]:
    """Yield the rows of one region with the newest cell of each column."""
    start, stop = region
    with Gateway(settings) as gateway:
        while True:
            scan = idl.TScan(startRow=start, stopRow=stop, caching=_ROWS_PER_SCAN)
            found = rows_of(
                gateway.ask("getScannerResults", table=name, tscan=scan, numRows=_ROWS_PER_SCAN)
            )
            yield from found
            if len(found) < _ROWS_PER_SCAN:
                return
            start = found[-1][0] + b"\0"


def read_changes(
    settings: HBaseSettings, table: str, name: bytes, region: Region
) -> Iterator[ChangeRow]:
    """Yield the rows of one region as tuples (key, order, …), with the columns of a reduced batch
    except for the table.

    The version of each row is not stored, so it is not returned.
    """
    for row, change in read_region(settings, name, region):
        # The key of the message, byte for byte as the relay writes it.
        key = orjson.dumps([table, *key_values(row, settings.salt_buckets)]).decode()
        yield (
            key,
            change.order,
            change.time_ms,
            change.position,
            change.deleted,
            dict(change.columns),
            None,
        )


def forget_deleted(settings: HBaseSettings, name: bytes, before_ms: int, region: Region) -> int:
    """Remove the deleted rows in a region of the HBase table `name` whose execute time is below
    `before_ms` (Unix milliseconds).

    A row that changes meanwhile is kept. Returns the number of removed rows.
    """
    old = [
        _forgetting(settings, name, row, change, cells)
        for row, cells in _stored_rows(settings, name, region)
        if (change := change_in(cells)) and change.deleted and change.time_ms < before_ms
    ]
    with Gateway(settings) as gateway:
        return sum(gateway.ask_all("checkAndDelete", old))


def _forgetting(
    settings: HBaseSettings, name: bytes, row: bytes, change: Change, cells: Sequence[Stored]
) -> dict[str, Any]:
    """The whole row up to this change, if this still is the newest.

    Under `check_and_mutate`, only its own cells: a later change can have a lower timestamp.
    """
    exact = settings.guard == "check_and_mutate"
    delete = (
        cells_at(row, *sorted({timestamp for *_, timestamp in cells}))
        if exact
        else idl.TDelete(row=row, timestamp=change.position)
    )
    return {
        "table": name,
        "row": row,
        "family": UPDATE_INFO,
        "qualifier": ORDER,
        "value": change.order.encode(),
        "tdelete": delete,
    }


def _row(line: Mapping[str, Any], salt_buckets: int) -> tuple[str, Row]:
    key = orjson.loads(line["key"])[1:]
    return line["table"], (
        row_key(key, salt_buckets),
        Change(line["order"], line["deleted"], line.get("data") or {}),
    )

"""The two methods that prevent an older change from replacing a newer one: the guards `version` and
`check_and_mutate`.

`version`: every cell has the execute position of its change as timestamp. HBase shows the cell with
the greatest timestamp, whichever arrived last. The job reads nothing, so positions alone decide.

`check_and_mutate`: HBase changes a row only if its `update_info:order` (time, then position) is not
greater than that of the change. Cells of the older change are removed. The new cells get a greater
timestamp than the removed ones, also if their own position is lower (ADR 94).
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from spark_jobs.hbase.cells import (
    INFO,
    ORDER,
    UPDATE_INFO,
    Cell,
    Change,
    covering_cells,
    guard_cells,
    value_cells,
)
from spark_jobs.hbase.connection import idl
from spark_jobs.hbase.gateway import ABSENT, Gateway, rows_of

Row: TypeAlias = tuple[bytes, Change]  # row key, the newest change of the key
Guard: TypeAlias = Callable[[Gateway, bytes, Sequence[Row]], int]


def write_by_version(gateway: Gateway, table: bytes, rows: Sequence[Row]) -> int:
    """Write all rows in one call, and return their number. HBase does not show changes that are
    older than those in the copy.
    """
    puts = [_put(row, change, covering_cells(change), change.position) for row, change in rows]
    gateway.ask("putMultiple", table=table, tputs=puts)
    return len(rows)


class _Stored(NamedTuple):
    """The order of a row in HBase, and the timestamp of its cells."""

    order: bytes
    timestamp: int


def write_by_check(gateway: Gateway, table: bytes, rows: Sequence[Row]) -> int:
    """Change each row whose order allows it, and return the number of changed rows.

    All orders are read first, and older changes are skipped. A row is changed only if it still has
    the order that was read. A row that another writer changed in the meantime is read again.
    """
    written, left = 0, list(rows)
    while left:
        present = _orders(gateway, table, left)
        due = [each for each in left if each[1].order.encode() >= _order(present, each)]
        conditions = [_if_unchanged(table, *each, present.get(each[0])) for each in due]
        applied = gateway.ask_all("checkAndMutate", conditions)
        left = [each for each, done in zip(due, applied, strict=True) if not done]
        written += len(due) - len(left)
    return written


GUARDS: Final[Mapping[str, Guard]] = MappingProxyType(
    {"version": write_by_version, "check_and_mutate": write_by_check}
)


def _orders(gateway: Gateway, table: bytes, rows: Sequence[Row]) -> Mapping[bytes, _Stored]:
    wanted = [idl.TColumn(family=UPDATE_INFO, qualifier=ORDER)]
    found = gateway.ask(
        "getMultiple", table=table, tgets=[idl.TGet(row=row, columns=wanted) for row, _ in rows]
    )
    return {row: _Stored(cells[0][2], cells[0][3]) for row, cells in rows_of(found)}


def _order(present: Mapping[bytes, _Stored], row: Row) -> bytes:
    return present[row[0]].order if row[0] in present else b""


def _if_unchanged(
    table: bytes, row: bytes, change: Change, present: _Stored | None
) -> dict[str, Any]:
    """The change, on condition that the row still has the order that was read."""
    if present is None:
        put = _put(row, change, value_cells(change), change.position)
        return _condition(table, row, ABSENT, [idl.TMutation(put=put)])
    if present.order == change.order.encode():  # applied again: its cells are replaced
        put = _put(row, change, value_cells(change), present.timestamp)
        return _condition(table, row, present.order, [idl.TMutation(put=put)])
    timestamp = max(change.position, present.timestamp + 1)
    mutations = [
        idl.TMutation(deleteSingle=cells_at(row, present.timestamp)),
        idl.TMutation(put=_put(row, change, value_cells(change), timestamp)),
    ]
    return _condition(table, row, present.order, mutations)


def cells_at(row: bytes, *timestamps: int) -> Any:
    """Return the Thrift request that deletes those cells of a row that have one of these
    timestamps.

    Unlike the deletion of a whole family, it hides no cell with another timestamp: a later change
    can have a lower one.
    """
    families = [
        idl.TColumn(family=family, timestamp=each)
        for family in (INFO, UPDATE_INFO)
        for each in timestamps
    ]
    kind = idl.TDeleteType.DELETE_FAMILY_VERSION
    return idl.TDelete(row=row, columns=families, deleteType=kind)


def _condition(table: bytes, row: bytes, order: bytes, mutations: list[Any]) -> dict[str, Any]:
    return {
        "table": table,
        "row": row,
        "family": UPDATE_INFO,
        "qualifier": ORDER,
        "compareOp": idl.TCompareOp.EQUAL,
        "value": order,
        "rowMutations": idl.TRowMutations(row=row, mutations=mutations),
    }


def _put(row: bytes, change: Change, cells: list[Cell], timestamp: int) -> Any:
    """All cells of a change with this timestamp."""
    values = [
        idl.TColumnValue(family=family, qualifier=name, value=value)
        for family, name, value in (*cells, *guard_cells(change))
    ]
    return idl.TPut(row=row, columnValues=values, timestamp=timestamp)

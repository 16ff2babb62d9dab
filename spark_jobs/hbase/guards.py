"""The two guards that prevent an older change from replacing a newer one.

`version`: every cell carries the execute position as its timestamp; HBase shows the greater one,
regardless of the order of arrival. Nothing is read. `check_and_mutate`: the row changes only where
its `update_info:order` is smaller or equal, decided by HBase for the row as a whole, so that cells
of older changes can be removed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from spark_jobs.hbase.cells import (
    DELETED,
    INFO,
    NULLS,
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
    """Put all rows in one call and return how many; changes older than the copy stay invisible."""
    puts = [_put(row, change, covering_cells(change)) for row, change in rows]
    gateway.ask("putMultiple", table=table, tputs=puts)
    return len(rows)


def write_by_check(gateway: Gateway, table: bytes, rows: Sequence[Row]) -> int:
    """Change each row for itself where its order allows, and return how many were changed.

    Orders are read first, all at once: older changes are skipped, and missing rows are written as
    new ones. HBase's comparison is never true for a missing cell, so these need a separate round;
    the third round is for rows that appeared in the meantime.
    """
    present = _orders(gateway, table, rows)
    not_older = [
        (row, change) for row, change in rows if change.order.encode() >= present.get(row, b"")
    ]
    fresh = [each for each in not_older if each[0] not in present]
    came_meanwhile = _refused(gateway, [_if_absent(table, *each) for each in fresh], fresh)
    known = [each for each in not_older if each[0] in present] + came_meanwhile
    outdone = _refused(gateway, [_if_not_older(table, *each) for each in known], known)
    return len(not_older) - len(outdone)


GUARDS: Final[Mapping[str, Guard]] = MappingProxyType(
    {"version": write_by_version, "check_and_mutate": write_by_check}
)


def _orders(gateway: Gateway, table: bytes, rows: Sequence[Row]) -> Mapping[bytes, bytes]:
    wanted = [idl.TColumn(family=UPDATE_INFO, qualifier=ORDER)]
    found = gateway.ask(
        "getMultiple", table=table, tgets=[idl.TGet(row=row, columns=wanted) for row, _ in rows]
    )
    return {row: cells[0][2] for row, cells in rows_of(found)}


def _refused(
    gateway: Gateway, questions: Sequence[dict[str, Any]], rows: Sequence[Row]
) -> list[Row]:
    """The rows whose condition did not hold."""
    applied = gateway.ask_all("checkAndMutate", questions)
    return [row for row, done in zip(rows, applied, strict=True) if not done]


def _if_absent(table: bytes, row: bytes, change: Change) -> dict[str, Any]:
    return _condition(
        table,
        row,
        idl.TCompareOp.EQUAL,
        ABSENT,
        [idl.TMutation(put=_put(row, change, value_cells(change)))],
    )


def _if_not_older(table: bytes, row: bytes, change: Change) -> dict[str, Any]:
    """HBase compares "given value OP stored value"."""
    mutations = [
        *_without_older_cells(row, change),
        idl.TMutation(put=_put(row, change, value_cells(change))),
    ]
    return _condition(table, row, idl.TCompareOp.GREATER_OR_EQUAL, change.order.encode(), mutations)


def _condition(
    table: bytes, row: bytes, operator: int, value: bytes, mutations: list[Any]
) -> dict[str, Any]:
    return {
        "table": table,
        "row": row,
        "family": UPDATE_INFO,
        "qualifier": ORDER,
        "compareOp": operator,
        "value": value,
        "rowMutations": idl.TRowMutations(row=row, mutations=mutations),
    }


def _without_older_cells(row: bytes, change: Change) -> Iterator[Any]:
    """Return the mutations that remove older cells, so that a repeated change finds its own
    cells unchanged.
    """
    if change.position == 0:
        return
    older = change.position - 1
    family = [idl.TColumn(family=INFO, timestamp=older)]
    columns = [
        idl.TColumn(family=UPDATE_INFO, qualifier=name, timestamp=older)
        for name in (DELETED, NULLS)
    ]
    yield idl.TMutation(
        deleteSingle=idl.TDelete(row=row, columns=family, deleteType=idl.TDeleteType.DELETE_FAMILY)
    )
    yield idl.TMutation(
        deleteSingle=idl.TDelete(
            row=row, columns=columns, deleteType=idl.TDeleteType.DELETE_COLUMNS
        )
    )


def _put(row: bytes, change: Change, cells: list[Cell]) -> Any:
    """All cells with the execute position as their timestamp."""
    values = [
        idl.TColumnValue(family=family, qualifier=name, value=value)
        for family, name, value in (*cells, *guard_cells(change))
    ]
    return idl.TPut(row=row, columnValues=values, timestamp=change.position)

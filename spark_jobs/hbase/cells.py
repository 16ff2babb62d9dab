"""Converts a change into HBase cells, and cells into a row of the copy.

Family `info` has the columns as text, family `update_info` the guards. All cells of a change have
the same timestamp: the change's execute position. So HBase itself shows the newer of two cells,
whichever arrived last. With the guard `check_and_mutate`, a change whose execute position is not
above the timestamp of the row's older cells gets the next greater timestamp instead (ADR 94). A
cell belongs to the present row only if it has the same timestamp as `update_info:order`. An older
cell remains from a column that the newest change does not have.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

INFO: Final = b"info"
UPDATE_INFO: Final = b"update_info"
EXECUTE_TIME: Final = b"execute_time"
EXECUTE_POSITION: Final = b"execute_position"
ORDER: Final = b"order"
DELETED: Final = b"deleted"
NULLS: Final = b"nulls"
_YES: Final = b"1"
_TIME_DIGITS: Final = (
    13  # `order` is %013d.%019d: it sorts as bytes, and one comparison sees the whole of it
)

Cell: TypeAlias = tuple[bytes, bytes, bytes]  # family, qualifier, value
Stored: TypeAlias = tuple[bytes, bytes, bytes, int]  # the same with its timestamp


@dataclass(frozen=True, slots=True)
class Change:
    """The newest change of one key: its order as text, whether it is a delete, and the columns'
    texts (None: NULL).
    """

    order: str
    deleted: bool
    columns: Mapping[str, str | None]

    @property
    def position(self) -> int:
        """The execute position, which is unique and rises with every change of an instance."""
        return int(self.order[_TIME_DIGITS + 1 :])

    @property
    def time_ms(self) -> int:
        """The execute time of the change, in Unix milliseconds."""
        return int(self.order[:_TIME_DIGITS])


def guard_cells(change: Change) -> list[Cell]:
    """Return the cells that store the order key of a change (the guards). A delete has one more
    cell.
    """
    guards = [
        (UPDATE_INFO, EXECUTE_TIME, b"%d" % change.time_ms),
        (UPDATE_INFO, EXECUTE_POSITION, b"%d" % change.position),
        (UPDATE_INFO, ORDER, change.order.encode()),
    ]
    return [*guards, (UPDATE_INFO, DELETED, _YES)] if change.deleted else guards


def value_cells(change: Change) -> list[Cell]:
    """Return the cells of the columns that are not NULL. Use them for a row whose older cells were
    removed before.
    """
    if change.deleted:
        return []
    return [
        (INFO, name.encode(), value.encode())
        for name, value in change.columns.items()
        if value is not None
    ]


def covering_cells(change: Change) -> list[Cell]:
    """Return a cell for each column, so that older cells are hidden; NULL and deleted values are
    empty.

    No cell is deleted, because a major compaction also removes the delete marker, and an older
    change that arrives late would then become visible.
    """
    if change.deleted:
        return [(INFO, name.encode(), b"") for name in change.columns]
    cells = [
        (INFO, name.encode(), b"" if value is None else value.encode())
        for name, value in change.columns.items()
    ]
    nulls = [name for name, value in change.columns.items() if value is None]
    if nulls:
        cells.append((UPDATE_INFO, NULLS, json.dumps(nulls, ensure_ascii=False).encode()))
    return cells


def change_in(cells: Iterable[Stored]) -> Change | None:
    """Return the change in the newest cells of a row, which may be a delete.

    Returns None for a row that the jobs did not write.
    """
    newest: dict[tuple[bytes, bytes], tuple[int, bytes]] = {}
    for family, qualifier, value, timestamp in cells:
        newest[family, qualifier] = max(
            (timestamp, value), newest.get((family, qualifier), (timestamp, value))
        )
    if (UPDATE_INFO, ORDER) not in newest:
        return None
    at, order = newest[UPDATE_INFO, ORDER]
    now = {place: value for place, (timestamp, value) in newest.items() if timestamp == at}
    deleted = (UPDATE_INFO, DELETED) in now
    nulls: list[str] = json.loads(now.get((UPDATE_INFO, NULLS), b"[]"))
    columns: dict[str, str | None] = {
        qualifier.decode(): value.decode()
        for (family, qualifier), value in now.items()
        if family == INFO
    }
    return Change(order.decode(), deleted, {} if deleted else columns | dict.fromkeys(nulls))

from collections.abc import Sequence
from typing import Generic, TypeVar

from relay.compiled.column_plan import ColumnPlan
from relay.model.change import StreamItem, TransactionBegin, TransactionEnd
from relay.model.row_path import SlowReason
from relay.model.table import TableMap

Plan = TypeVar("Plan")

class RowPrinter:
    def __init__(
        self,
        columns: Sequence[ColumnPlan],
        key: tuple[int, ...],
        key_head: bytes,
        placed: tuple[int, ...],
        seed: int,
        partitions: int,
    ) -> None: ...
    def print_rows(
        self,
        body: bytes,
        start: int,
        update: bool,
        before_old: bytes,
        after_old: bytes,
        time: int,
        position: int,
        skip: int,
        largest: int | None,
        /,
    ) -> tuple[int, int, int, bytes] | SlowReason: ...
    def count_rows(self, body: bytes, start: int, update: bool, /) -> int | None: ...

class TransactionPrinter(Generic[Plan]):
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def know(self, table: TableMap, plan: Plan, printer: RowPrinter, parts: tuple[tuple[bytes, bytes, bytes, bytes], ...]) -> None: ...
    def forget(self) -> None: ...
    def print_transactions(
        self,
        items: list[StreamItem],
        at: int,
        most_bytes: int,
        file: str,
        base: int,
        time: int,
        position: int,
        latest_ms: int,
        names_gtid: bool,
        batch: bytes,
        publish_time: bytes,
        /,
    ) -> tuple[int, int, int, int, int, int, TransactionBegin, TransactionEnd, list[str], list[tuple[Plan, int, int, bytes]]] | None: ...

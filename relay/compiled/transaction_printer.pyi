from typing import Generic, TypeVar

from relay.compiled.row_printer import RowPrinter
from relay.model.change import StreamItem, TransactionBegin, TransactionEnd
from relay.model.table import TableId, TableMap

Plan = TypeVar("Plan")

class TransactionPrinter(Generic[Plan]):
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def know(
        self,
        table: TableMap,
        plan: Plan,
        printer: RowPrinter,
        largest: int | None,
        parts: tuple[tuple[bytes, bytes, bytes, bytes], ...],
        logical: TableId,
    ) -> None: ...
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
    ) -> (
        tuple[
            int,
            int,
            int,
            int,
            int,
            int,
            TransactionBegin,
            TransactionEnd,
            list[str],
            list[tuple[Plan, int, int, int, bytes]],
            list[tuple[TableId, int, int, int, int]],
        ]
        | None
    ): ...
